import { randomBytes } from 'node:crypto';
import t from 'tap';
import { encodeFunctionData, type Hex, multicall3Abi, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Eip3009Query, findEip3009Settlement } from '../../../src/payment/authorizations/eip3009.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { mine } from '../../mine.ts';
import { TRANSFER_TYPES } from '../../transfer-types.ts';
import { baseSepolia, stable } from '../facilitators/networks.ts';
import { type Payment, signV2 } from '../facilitators/payments.ts';

const chains = await startChains({ networks: [baseSepolia, stable], tempo: true });
t.teardown(chains.stop);
const facilitator = localFacilitator(chains.facilitatorOptions);
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
const tokenAbi = parseAbi([
  'function approve(address spender, uint256 value)',
  'function transferFrom(address from, address to, uint256 value)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

for (const network of [baseSepolia, stable]) {
  const { asset } = network.sandbox;
  const access = chains.evm[network.id];
  if (!access) throw new Error(`${network.id} was not started`);
  const { rpcUrl, chainId, privateKey } = access;
  const rpc = createRpc(rpcUrl);
  const account = privateKeyToAccount(privateKey as Hex);

  const queryOf = ({ payload }: Payment, changes: Partial<Eip3009Query> = {}): Eip3009Query => {
    const { authorization } = payload.payload as { authorization: Record<'nonce' | 'validBefore' | 'value', string> };
    const payTo = chains.payTo[network.id] ?? '';
    const { nonce, validBefore, value } = authorization;
    return {
      rpcUrl,
      asset: asset.address,
      payer: account.address,
      payTo,
      value,
      nonce,
      validBefore: Number(validBefore),
      ...changes,
    };
  };
  const settle = ({ payload, requirements }: Payment) => facilitator.settle(payload, requirements);

  t.test(
    `${asset.symbol}: an authorization not yet used is unknown, a settled one is found with its amount`,
    async (t) => {
      const payment = await signV2(chains, network, { amount: '321' });
      t.match(await findEip3009Settlement(queryOf(payment)), { state: 'unknown' });
      const settlement = await settle(payment);
      const transaction = settlement.state === 'settled' ? settlement.transaction : 'none';
      t.same(await findEip3009Settlement(queryOf(payment)), { state: 'settled', transaction, amount: 321n });
    },
  );

  t.test(`${asset.symbol}: a nonce spent on someone else is not a settlement`, async (t) => {
    const payment = await signV2(chains, network);
    t.match(await settle(payment), { state: 'settled' });
    const other = chains.wallets.evm.facilitator.address;
    t.match(await findEip3009Settlement(queryOf(payment, { payTo: other })), {
      state: 'refused',
      reason: /someone else/,
    });
  });

  /** What the payer sends by itself to use up the nonce of its payment. */
  const spend = async ({ nonce, payTo }: Eip3009Query, value: bigint): Promise<Hex> => {
    const message = {
      from: account.address,
      to: payTo as Hex,
      value,
      validAfter: 0n,
      validBefore: 4_000_000_000n,
      nonce: nonce as Hex,
    };
    const signature = await account.signTypedData({
      domain: { name: asset.name, version: asset.version, chainId, verifyingContract: asset.address as Hex },
      types: TRANSFER_TYPES,
      primaryType: 'TransferWithAuthorization',
      message,
    });
    const { r, s, v } = parseSignature(signature);
    return encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferWithAuthorization',
      args: [message.from, message.to, value, 0n, message.validBefore, message.nonce, Number(v), r, s],
    });
  };

  t.test(`${asset.symbol}: a nonce spent on less is not a settlement`, async (t) => {
    const query = queryOf(await signV2(chains, network));
    await actAs(rpc, account.address, [{ to: asset.address, data: await spend(query, 1n) }]);
    t.match(await findEip3009Settlement(query), { state: 'refused', reason: /another amount/ });
  });

  t.test(`${asset.symbol}: a transfer before the use of the nonce does not count`, async (t) => {
    const query = queryOf(await signV2(chains, network));
    const approve = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [MULTICALL3, 1_000_000n] });
    const decoy = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferFrom',
      args: [account.address, query.payTo as Hex, BigInt(query.value)],
    });
    const calls = [decoy, await spend(query, 1n)].map((callData) => ({
      target: asset.address as Hex,
      allowFailure: false,
      callData,
    }));
    const both = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] });
    await actAs(rpc, account.address, [
      { to: asset.address, data: approve },
      { to: MULTICALL3, data: both },
    ]);
    t.match(await findEip3009Settlement(query), { state: 'refused', reason: /another amount/ });
  });

  t.test(`${asset.symbol}: a cancelled authorization is unsettled`, async (t) => {
    const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
    const signature = await account.signTypedData({
      domain: { name: asset.name, version: asset.version, chainId, verifyingContract: asset.address as Hex },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: account.address, nonce },
    });
    const { r, s, v } = parseSignature(signature);
    const words = [account.address, nonce, `0x${Number(v).toString(16)}`, r, s];
    const data = `0x5a049a70${words.map((word) => word.slice(2).padStart(64, '0')).join('')}`;
    const from = chains.wallets.evm.facilitator.address;
    await rpc('anvil_impersonateAccount', [from]);
    await rpc('eth_sendTransactionSync', [{ from, to: asset.address, data }]);
    const query = { ...queryOf(await signV2(chains, network)), nonce };
    t.match(await findEip3009Settlement(query), { state: 'refused', reason: /cancelled/ });
  });

  t.test(`${asset.symbol}: each of many settlements is found, also far back in the chain`, async (t) => {
    const payments = await Promise.all(
      [11, 12, 13].map((amount) => signV2(chains, network, { amount: String(amount) })),
    );
    await Promise.all(payments.map(settle));
    await mine(rpc, 1_200);
    const found = await Promise.all(payments.map((payment) => findEip3009Settlement(queryOf(payment))));
    t.match(found, [{ amount: 11n }, { amount: 12n }, { amount: 13n }]);
  });

  t.test(`${asset.symbol}: unused and expired is unsettled, once the chain's own time is past it`, async (t) => {
    const payment = await signV2(chains, network);
    const used = await signV2(chains, network, { amount: '5' });
    await settle(used);
    const { validBefore } = queryOf(payment);
    await rpc('evm_setNextBlockTimestamp', [validBefore]);
    await rpc('evm_mine', []);
    t.match(await findEip3009Settlement(queryOf(payment)), { state: 'unknown' }, 'not at once');
    await rpc('evm_setNextBlockTimestamp', [validBefore + 60]);
    await rpc('evm_mine', []);
    t.match(await findEip3009Settlement(queryOf(payment)), { state: 'refused', reason: /expired/ });
    t.match(await findEip3009Settlement(queryOf(used)), { state: 'settled', amount: 5n }, 'a used one stays settled');
  });

  t.test(`${asset.symbol}: a chain out of reach, or another contract, is unknown`, async (t) => {
    const payment = await signV2(chains, network);
    const gone = await findEip3009Settlement(queryOf(payment, { rpcUrl: 'http://127.0.0.1:9/secret-path' }));
    t.match(gone, { state: 'unknown' });
    t.notMatch(JSON.stringify(gone), /secret-path/);
    t.match(await findEip3009Settlement(queryOf(payment, { asset: account.address })), { state: 'unknown' });
  });
}

t.end();
