/** Payers whose signatures only the chain can check, as those of passkeys. */
import { Mppx, tempo } from 'mppx/client';
import t from 'tap';
import { createClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Account, Actions, Transaction } from 'viem/tempo';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { request, sendProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'], tempo: true });
t.teardown(gateway.stop);

const PRICE = 60_000n;

t.test('nobody gets another payer’s answer by its Idempotency-Key and a signature that is not its own', async (t) => {
  const { rpcUrl, chainId, currency, privateKey } = gateway.state.tempo as NonNullable<typeof gateway.state.tempo>;
  const chain = { ...tempoMainnet, id: chainId };
  const client = createClient({ chain, transport: http(rpcUrl), pollingInterval: 100 });
  const account = Account.fromP256(generatePrivateKey());
  const feeToken = '0x20c0000000000000000000000000000000000000';
  for (const token of [currency as typeof feeToken, feeToken] as const) {
    const transfer = { amount: 10_000_000n, to: account.address, token, feeToken } as const;
    await Actions.token.transferSync(client, { account: privateKeyToAccount(privateKey), ...transfer });
  }
  const wallet = Mppx.create({ polyfill: false, methods: [tempo({ account, mode: 'pull', getClient: () => client })] });
  const key = { 'idempotency-key': 'a passkey' };
  const call = request(gateway, '/mpp/image/family-e-2', { prompt: 'a lighthouse of a passkey' });
  const pay = async () => wallet.createCredential(await fetch(call.url, call.init));
  const earned = await gateway.earned('tempo');
  t.equal((await sendProof(call, { authorization: await pay(), ...key })).status, 200);
  t.equal((await gateway.earned('tempo')) - earned, PRICE);

  // The public key is the payer's, as the chain shows it; the signature is anybody's.
  const credential = JSON.parse(Buffer.from((await pay()).replace('Payment ', ''), 'base64url').toString());
  const { signature } = Transaction.deserialize(credential.payload.signature as Transaction.TransactionSerializedTempo);
  if (signature?.type !== 'p256') throw new Error('the wallet signs in another way');
  const genuine = signature.signature.r.toString(16).padStart(64, '0');
  credential.payload.signature = credential.payload.signature.replace(genuine, '11'.repeat(32));
  const authorization = `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
  const answer = await sendProof(call, { authorization, ...key });
  t.equal(answer.status, 402);
  t.match(await answer.json(), { type: /verification-failed$/, detail: /not settled/ });
  t.equal((await gateway.earned('tempo')) - earned, PRICE);
});
