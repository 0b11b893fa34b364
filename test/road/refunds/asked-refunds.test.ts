/** What is owed goes back to who asks for it with the wallet that paid, at the address that challenges name. */
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createKeyPairSignerFromBytes, getBase58Encoder, signBytes } from '@solana/kit';
import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { createSIWxClientExtension, type SIWxSigner } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment } from '@x402/fetch';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { canonicalJson } from '../../../src/canonical-json.ts';
import { encodeBase58 } from '../../../src/on-chain/base58.ts';
import type { Purchased } from '../../../src/purchases/purchases.ts';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { payV2, receiptOf, request, sendProof, signProof } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { wordsFor } from '../../words-for.ts';

const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
copySelling(['image/family-e-2'], catalogue);
appendFileSync(
  join(catalogue, 'service.yaml'),
  '\nexposure: { settleUpfront: { above: "0" } }\nrefunds: { endpoint: true }\n',
);
const gateway = await startGateway({
  catalogue,
  networks: ['chain-a', 'chain-c'],
  tempo: true,
  intervals: { reconcileEveryMs: 50 },
});
t.teardown(gateway.stop);

const evmKey = gateway.state.evm['chain-c']?.privateKey ?? '0x';
const solanaKey = getBase58Encoder().encode(gateway.state.solana?.secretKey ?? '');
const solana = await createKeyPairSignerFromBytes(solanaKey);
const PRICE = '60000';

type Asked = Readonly<Record<string, unknown>>;
type Sign = (text: string) => Promise<string>;
const onEvm =
  (key: `0x${string}`): Sign =>
  (message) =>
    privateKeyToAccount(key).signMessage({ message });
const onSolana: Sign = async (text) =>
  encodeBase58(await signBytes(solana.keyPair.privateKey, new TextEncoder().encode(text)));

let made = 0;
const picture = (path = '/image/family-e-2') => {
  made += 1;
  return request(gateway, path, { prompt: `a lighthouse, number ${made}` });
};

const { extensions = {} } = decodePaymentRequiredHeader(
  (await fetch(picture().url, picture().init)).headers.get('payment-required') ?? '',
);
const { info } = extensions.refund as { info: { refundEndpoint: string } };

const asking = (txHash: string, network: string, changes: Asked = {}): Asked => ({
  x402Version: 2,
  paymentReference: { txHash, network },
  amount: PRICE,
  reason: 'I did not get it',
  idempotencyKey: txHash,
  ...changes,
});

async function ask(asked: Asked, sign: Sign): Promise<{ status: number; body: Asked }> {
  const payerSignature = await sign(canonicalJson(asked));
  const answer = await fetch(info.refundEndpoint, {
    method: 'POST',
    body: JSON.stringify({ ...asked, payerSignature }),
  });
  return { status: answer.status, body: (await answer.json()) as Asked };
}

async function executed(asked: Asked, sign: Sign): Promise<Asked> {
  for (;;) {
    const { body } = await ask(asked, sign);
    if (body.status !== 'pending') return body;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

t.test('every challenge says where to ask', async (t) => {
  t.match(info, { refundEndpoint: `${gateway.url}/v1/refunds`, windowSeconds: 30 * 86_400, partialRefunds: false });
});

for (const [network, sign, payer] of [
  ['chain-c', onEvm(evmKey), {}],
  ['chain-a', onSolana, { payer: solana.address }],
] as const) {
  t.test(`what is owed on ${network} goes back once, however often it is asked for`, async (t) => {
    const before = await gateway.spendable(network);
    const call = picture();
    await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
    const answer = await sendProof(call, await signProof(gateway, network, call));
    t.equal(answer.status, 500);
    const { transaction, network: chain } = receiptOf(answer);
    const asked = asking(transaction, chain, payer);
    const [first, second] = await Promise.all([ask(asked, sign), ask(asked, sign)]);
    t.match([first.body.status, second.body.status], [/pending|executed/, /pending|executed/]);
    t.match(await executed(asked, sign), { status: 'executed', amount: PRICE, refundTxHash: String });
    t.equal(await gateway.spendable(network), before);
  });
}

t.test('and what was paid on Tempo', async (t) => {
  const call = picture('/mpp/image/family-e-2');
  const unpaid = await fetch(call.url, call.init);
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const answer = await sendProof(call, await openMppPayer(gateway.state, 'tempo').sign(unpaid));
  t.equal(answer.status, 500);
  t.equal(answer.headers.get('payment-receipt'), null, 'MPP has receipts on success alone');
  const client = new x402Client().registerExtension(
    createSIWxClientExtension({ signers: [privateKeyToAccount(evmKey) as SIWxSigner] }),
  );
  const bought = await wrapFetchWithPayment(fetch, client)(`${gateway.url}/v1/purchases?limit=1`);
  const { purchases } = (await bought.json()) as Purchased;
  const [{ transaction = '', network = '' } = {}] = purchases;
  t.match(purchases, [{ state: 'refund_due', network: `eip155:${gateway.state.tempo?.chainId}` }]);
  const asked = asking(transaction, network);
  t.match(await executed(asked, onEvm(evmKey)), { status: 'executed', amount: PRICE, refundTxHash: /^0x/ });
});

t.test('what was delivered, what another paid and a part of what is owed are denied', async (t) => {
  const delivered = receiptOf(await payV2(gateway, 'chain-c', picture()));
  const told = await ask(asking(delivered.transaction, delivered.network), onEvm(evmKey));
  t.match(told, { status: 200, body: { status: 'denied', amount: '0', denialReason: /nothing is owed/ } });

  const call = picture();
  const before = await gateway.spendable('chain-c');
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const { transaction, network } = receiptOf(await sendProof(call, await signProof(gateway, 'chain-c', call)));
  const asked = asking(transaction, network);
  t.match((await ask(asked, onEvm(generatePrivateKey()))).body, { status: 'denied', denialReason: /nothing is owed/ });
  t.match((await ask({ ...asked, amount: '1' }, onEvm(evmKey))).body, { status: 'denied', denialReason: /whole/ });
  const moved = await ask({ ...asked, payer: solana.address }, onEvm(evmKey));
  t.match(moved, { status: 400, body: { error: { details: [{ path: '/payerSignature' }] } } });
  t.equal(await gateway.spendable('chain-c'), before - BigInt(PRICE), 'nothing goes back');
});

t.test('what a payer gives as its reason is one line of text to the operator', async (t) => {
  const call = picture();
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const { transaction, network } = receiptOf(await sendProof(call, await signProof(gateway, 'chain-c', call)));
  const reason = 'too dark\n2026-01-01 00:00:00  sent  \x1b[2J\x1b]0;owned\x07\u009b1A\u202eback';
  t.match(await executed(asking(transaction, network, { reason }), onEvm(evmKey)), { status: 'executed' });
  const { stdout } = await promisify(execFile)(process.execPath, [...wordsFor('src/cli/refund.ts'), '--list'], {
    env: { PATH: process.env.PATH, TURNPIKE_DATA: gateway.directory },
  });
  const [head, newest, ...others] = stdout.trimEnd().split('\n');
  t.match(head, /^time \(UTC\)/);
  t.match(newest, 'asked for by its payer: too dark\\u000a2026-01-01 00:00:00  sent  \\u001b[2J');
  t.notMatch(others.join('\n'), /2026-01-01 00:00:00/);
  t.notMatch(stdout.replaceAll('\n', ''), /[\p{Cc}\u2028-\u202e]/u);
});

t.test('a request that is none names its fields, and nothing of a signature is repeated', async (t) => {
  const { status, body } = await ask({ x402Version: 1, paymentReference: {}, surprise: true }, onEvm(evmKey));
  t.equal(status, 400);
  const { details } = body.error as { details: { path: string }[] };
  t.same(details.map(({ path }) => path).sort(), [
    '/amount',
    '/idempotencyKey',
    '/paymentReference/network',
    '/paymentReference/txHash',
    '/surprise',
    '/x402Version',
  ]);
  t.equal((await fetch(info.refundEndpoint)).status, 405);
});
