/** A facilitator that does its work and tells of it oddly: what its payers are told, and what can be bought beside it. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { decodeBase58, encodeBase58 } from '../../../src/on-chain/base58.ts';
import { readSolanaPayment } from '../../../src/payment/chains/solana-transaction.ts';
import { remoteFacilitator } from '../../../src/payment/facilitators/remote.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { changed, decoded } from '../../payment/authorizations/proofs.ts';
import { front, json, serve } from '../../payment/facilitators/front.ts';

const PRICE = 60_000n;
/** Answers in place of those of the facilitator behind, as JSON, by what the path ends with. */
const instead = new Map<string, (answer: string) => string>();
/** Paths that want another key than the gateway has. */
const locked = new Set<string>();
/** What asks for the operator's attention in the log. */
const warnings: object[] = [];
const quiet = () => undefined;

const gateway = await startGateway({
  networks: ['chain-a', 'chain-c'],
  log: { debug: quiet, info: quiet, error: quiet, warn: (details) => void warnings.push(details) },
  between: async (sandbox) => {
    const [own] = sandbox.facilitators;
    if (!own) throw new Error('the sandbox has no facilitator');
    const answerOf = front(own.facilitator);
    const server = await serve((asked, response, body) => {
      const path = asked.url?.split('/').at(-1) ?? '';
      if (locked.has(path)) return json(response, 401, { message: 'the key has expired' });
      const change = instead.get(path);
      if (!change) return answerOf(asked, response, body);
      const end = response.end.bind(response);
      response.end = ((text: string) => end(change(text))) as typeof response.end;
      answerOf(asked, response, body);
    });
    const remote = remoteFacilitator({ url: server.url });
    t.teardown(server.stop);
    t.teardown(() => remote.close());
    return { facilitators: [{ name: 'over HTTP', facilitator: remote }] };
  },
});
t.teardown(gateway.stop);

/** Of a kind in an answer to /supported, what a client on Solana is told besides. */
const solanaExtra = (extra: string) => (answer: string) =>
  answer.replace(/"extra":\{"feePayer":"/g, `"extra":{${extra},"feePayer":"`);

for (const [name, extra] of [
  ['more than a header holds', `"notes":"${'on and on '.repeat(2_000)}"`],
  ['too deep to be written', `"notes":${'['.repeat(50_000)}${']'.repeat(50_000)}`],
] as const) {
  t.test(`what a facilitator says of one network, ${name}, keeps nobody from paying on another`, async (t) => {
    instead.set('supported', solanaExtra(extra));
    t.teardown(() => instead.clear());
    const url = await gateway.startAnother();
    const call = request({ ...gateway, url }, '/image/family-e-2', { prompt: `a lighthouse, ${name}` });
    const { offers } = await (await fetch(call.url, call.init)).json();
    t.match(offers, [{ network: 'eip155:84532' }]);
    t.equal(offers.length, 1);
    t.equal((await sendProof(call, await signProof({ ...gateway, url }, 'chain-c', call))).status, 200);
  });
}

t.test('a facilitator that names no fee payer keeps nobody from paying on another network', async (t) => {
  instead.set('supported', (answer) => answer.replace(/"feePayer":"/g, '"feePayers":"'));
  t.teardown(() => instead.clear());
  const url = await gateway.startAnother();
  const call = request({ ...gateway, url }, '/image/family-e-2', { prompt: 'a lighthouse without a fee payer' });
  const { offers } = await (await fetch(call.url, call.init)).json();
  t.match(offers, [{ network: 'eip155:84532' }]);
  t.equal(offers.length, 1, 'what nobody could sign is not offered');
});

t.test("a transaction that is none of the payment's chain is not told: the chain tells its own", async (t) => {
  const [inHex, inBase58] = [`0x${randomBytes(32).toString('hex')}`, encodeBase58(randomBytes(64))];
  for (const [network, transaction, own] of [
    ['chain-c', inBase58, /^0x[0-9a-f]{64}$/],
    ['chain-a', inHex, /^[1-9A-HJ-NP-Za-km-z]{64,88}$/],
  ] as const) {
    const earned = await gateway.earned(network);
    const call = request(gateway, '/image/family-e-2', { prompt: `a lighthouse on ${network}` });
    const proof = await signProof(gateway, network, call);
    instead.set('settle', (answer) => JSON.stringify({ ...JSON.parse(answer), transaction }));
    const answer = await sendProof(call, proof);
    instead.clear();
    t.equal(answer.status, 200);
    const told = JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString());
    t.match(told, { success: true, transaction: own });
    t.equal((await gateway.earned(network)) - earned, PRICE);
  }
});

t.test('a Solana transfer to another than the seller is refused before any work, whoever finds it good', async (t) => {
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse of somebody else' });
  const proof = await signProof(gateway, 'chain-a', call);
  const { transaction = '' } = decoded(proof).payload;
  const wire = Buffer.from(transaction, 'base64');
  const to = wire.indexOf(decodeBase58(readSolanaPayment(transaction).destination));
  randomBytes(32).copy(wire, to);
  const elsewhere = changed(proof, ({ payload }) => Object.assign(payload, { transaction: wire.toString('base64') }));
  const network = decoded(proof).accepted.network;
  instead.set('verify', () => JSON.stringify({ isValid: true }));
  instead.set('settle', () => JSON.stringify({ success: true, transaction: encodeBase58(randomBytes(64)), network }));
  t.teardown(() => instead.clear());
  const { upstreamCalls } = await gateway.calls();
  const answer = await sendProof(call, elsewhere);
  t.equal(answer.status, 402);
  t.match((await answer.json()).detail, /the payment goes to \w+, asked is/);
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls);
});

t.test(
  "what a facilitator says of a payment reaches its payer without the address of the facilitator's node",
  async (t) => {
    const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse, refused' });
    const proof = await signProof(gateway, 'chain-c', call);
    const invalidReason = 'rpc_failure: https://node.example/v2/the-access-key does not answer';
    instead.set('verify', () => JSON.stringify({ isValid: false, invalidReason }));
    t.teardown(() => instead.clear());
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 402);
    const required = Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString();
    const told = (await answer.text()) + required;
    t.match(told, /rpc_failure/);
    t.notMatch(told, /node\.example|the-access-key/);
  },
);

t.test(
  'a payment that the facilitator does not check or settle is told to the operator, with what it answered',
  async (t) => {
    const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse, unchecked' });
    const proof = await signProof(gateway, 'chain-c', call);
    for (const [path, status, words] of [
      ['verify', 402, /\/verify with HTTP 401 and no verdict/],
      ['settle', 409, /the facilitator answered HTTP 401/],
    ] as const) {
      warnings.length = 0;
      locked.add(path);
      const answer = await sendProof(call, proof);
      locked.clear();
      t.equal(answer.status, status);
      t.match(warnings, [{ why: words }]);
    }
    t.equal((await sendProof(call, proof)).status, 200, 'and the payment is as good as before');
  },
);
