/** An address that is one's wallet on one chain and another's contract on a second: contracts are not owned by keys. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { request, sendProof } from '../../clients.ts';
import { catalogueOf } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { answering } from '../../hostile-wallets.ts';
import { moveTokens, newSmartWallet, placeFactory, signProofBy } from '../../smart-wallets.ts';

const PRICE = 60_000n;
const FACTORY = '0x00000000000000000000000000000000000fac01';
const NETWORKS = ['chain-c', 'arbitrum'] as const;

t.test('nobody gets the answer of another’s wallet by its key and a contract at its address', async (t) => {
  const catalogue = catalogueOf(t, ['image/family-e-2']);
  const endpoint = join(catalogue, 'endpoints/image/family-e-2.yaml');
  writeFileSync(
    endpoint,
    readFileSync(endpoint, 'utf8').replace(/^networks: .*$/m, `networks: [${NETWORKS.join(', ')}]`),
  );
  const gateway = await startGateway({ catalogue, networks: NETWORKS });
  t.teardown(gateway.stop);
  const [home, abroad] = NETWORKS.map((network) => {
    const access = gateway.state.evm[network];
    if (!access) throw new Error(`${network} was not started`);
    return { ...access, network, bank: gateway.sandbox.payer(network) };
  });
  if (!home || !abroad) throw new Error('two networks were started');
  for (const { rpcUrl } of [home, abroad]) await placeFactory({ rpcUrl }, FACTORY);
  const wallet = await newSmartWallet(home, FACTORY);
  await wallet.deploy();

  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse of two owners' });
  const key = { 'idempotency-key': 'the first order' };
  const proof = await signProofBy(wallet, wallet.sign, call, 'exact', home.caip2);
  const bought = await sendProof(call, { ...proof, ...key });
  t.equal(bought.status, 200);

  await createRpc(abroad.rpcUrl)('anvil_setCode', [wallet.address, answering(32)]);
  await moveTokens(abroad, abroad.bank, wallet.address, 1_000_000n);
  const earned = await gateway.earned('arbitrum');
  const anything = async () => `0x${'11'.repeat(66)}` as const;
  const theirs = await signProofBy(wallet, anything, call, 'exact', abroad.caip2);
  const answer = await sendProof(call, { ...theirs, ...key });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('idempotency-replayed'), null);
  t.equal((await gateway.earned('arbitrum')) - earned, PRICE);

  const again = await signProofBy(wallet, wallet.sign, call, 'exact', home.caip2);
  const had = await sendProof(call, { ...again, ...key });
  t.equal(had.headers.get('idempotency-replayed'), 'true', 'its own is still had by the key');
  t.same(await had.json(), await bought.json());

  for (const [who, isDelegated] of [
    ['who pays by a key', false],
    ['an account with a key that has a contract’s code act for it', true],
  ] as const) {
    await t.test(`${who} has its answer whichever network it pays on`, async (t) => {
      const { address, signTypedData } = privateKeyToAccount(generatePrivateKey());
      const order = request(gateway, '/image/family-e-2', { prompt: `a lighthouse of one owner: ${who}` });
      const pay = async (chain: typeof home) => {
        await moveTokens(chain, chain.bank, address, PRICE);
        return sendProof(order, {
          ...(await signProofBy({ address }, signTypedData as typeof wallet.sign, order, 'exact', chain.caip2)),
          'idempotency-key': 'the second order',
        });
      };
      const first = await (await pay(home)).json();
      // EIP-7702: what acts for it is the code of the wallet there, which takes any signature.
      if (isDelegated) {
        await createRpc(abroad.rpcUrl)('anvil_setCode', [address, `0xef0100${wallet.address.slice(2)}`]);
      }
      const before = await gateway.earned('arbitrum');
      const second = await pay(abroad);
      t.equal(second.status, 200);
      t.equal(second.headers.get('idempotency-replayed'), 'true');
      t.same(await second.json(), first);
      t.equal(await gateway.earned('arbitrum'), before);
    });
  }
});
