/** A Tempo transfer: what is refused before any work, when it is settled, and what the chain is asked about it. */
// What checks a transaction is loaded before one is signed: it ends 25 seconds later.
import '../../../src/rails/mpp/tempo-chain.ts';
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { Mppx, tempo } from 'mppx/client';
import t from 'tap';
import { createClient, type Hex, http } from 'viem';
import { generatePrivateKey, type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import { Account, Actions, P256, Transaction } from 'viem/tempo';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { checkSignedTransfer } from '../../../src/payment/authorizations/tempo.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { openMppRail } from '../../../src/rails/mpp/rail.ts';
import { type PaidCall, request, sendProof } from '../../clients.ts';
import { catalogueOf } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { mine } from '../../mine.ts';
import { noExposure } from '../exposure/none.ts';
import { json, serve } from '../facilitators/front.ts';
import { challengesOf, decode, encode, quoteOf, requestOf, secret } from '../mpp/credentials.ts';
import { feeToken } from '../mpp/tempo-wallets.ts';
import { refusesBeforeWork } from './proofs.ts';

const catalogue = catalogueOf(t, ['image/family-e-2']);
appendFileSync(join(catalogue, 'service.yaml'), '\nlimits: { payer: { wastedPerHour: 1 } }\n');
let chainUrl = '';
/** While true, the gateway's node tells nothing of what it was sent, and another one that answers for it is a block behind. */
let isBehind = false;
/** While true, it is asked too often, and sends nothing. */
let isLimited = false;

const gatewaysNode = await serve(async (_request, response, body) => {
  if (isLimited && body.includes('eth_sendRawTransaction')) {
    return json(response, 429, { jsonrpc: '2.0', id: 1, error: { code: 429, message: 'exceeded its compute units' } });
  }
  const headers = { 'content-type': 'application/json' };
  const answer = await (await fetch(chainUrl, { method: 'POST', headers, body })).json();
  if (isBehind && body.includes('eth_sendRawTransaction')) return response.destroy();
  json(response, 200, isBehind && body.includes('eth_getLogs') ? { ...answer, result: [] } : answer);
});
t.teardown(gatewaysNode.stop);

const gateway = await startGateway({
  catalogue,
  networks: [],
  tempo: true,
  intervals: { reconcileEveryMs: 3_600_000 },
  between: async ({ variables }) => {
    chainUrl = String(variables.TURNPIKE_TEMPO_RPC_URL);
    return { variables: { ...variables, TURNPIKE_TEMPO_RPC_URL: gatewaysNode.url } };
  },
});
t.teardown(gateway.stop);
if (!gateway.state.tempo) throw new Error('Tempo was not started');
const { rpcUrl, chainId, currency, privateKey } = gateway.state.tempo;
const rpc = createRpc(rpcUrl);
const client = createClient({ chain: { ...tempoMainnet, id: chainId }, transport: http(rpcUrl), pollingInterval: 100 });
const payer = privateKeyToAccount(privateKey);

const PRICE = 60_000n;
let made = 0;
/** A request that no other test makes. */
const fresh = () => {
  made += 1;
  return request(gateway, '/mpp/image/family-e-2', { prompt: `a lighthouse, number ${made}` });
};

const walletOf = (account: LocalAccount) =>
  Mppx.create({ polyfill: false, methods: [tempo({ account, mode: 'pull', getClient: () => client })] });

/** The credential for a 402, by mppx's unmodified client. */
const signed = async (unpaid: Response, account: LocalAccount = payer) => ({
  authorization: await walletOf(account).createCredential(unpaid),
});
const unpaid = ({ url, init }: PaidCall) => fetch(url, init);

interface Credential {
  challenge: { expires: string };
  payload: { signature: Hex };
}
const decoded = ({ authorization }: { authorization: string }): Credential =>
  decode(authorization.replace(/^Payment /, ''));

/** When the chain takes a transaction. */
type Validity = Pick<
  Transaction.TransactionSerializableTempo,
  | 'validAfter'
  | 'validBefore'
  | 'nonceKey'
  | 'nonce'
  | 'feeToken'
  | 'gas'
  | 'maxFeePerGas'
  | 'maxPriorityFeePerGas'
  | 'feePayerSignature'
>;

const transactionOf = (proof: { authorization: string }) =>
  Transaction.deserialize(decoded(proof).payload.signature as Transaction.TransactionSerializedTempo);

/** The same transaction, valid at another time and signed again, by the payer or by somebody in its name. */
async function resigned(
  proof: { authorization: string },
  validity: Validity,
  account: Pick<Account.Account, 'signTransaction'> = Account.fromSecp256k1(privateKey),
): Promise<{ authorization: string }> {
  const { chainId, calls, gas, maxFeePerGas, maxPriorityFeePerGas, ...others } = transactionOf(proof);
  const { validBefore, nonceKey, nonce } = others;
  const cost = { gas, maxFeePerGas, maxPriorityFeePerGas };
  const signature = await account.signTransaction({
    type: 'tempo',
    chainId,
    calls,
    ...cost,
    ...{ validBefore, nonceKey, nonce, ...validity },
  });
  return { authorization: `Payment ${encode({ ...decoded(proof), payload: { type: 'transaction', signature } })}` };
}

t.test('a transaction that is not valid yet, for ever or for longer than its challenge is refused', async (t) => {
  const call = fresh();
  const proof = await signed(await unpaid(call));
  const type = /verification-failed$/;
  // Clocks may differ by a minute.
  const last = Math.floor(Date.parse(decoded(proof).challenge.expires) / 1000) + 60;
  for (const [terms, detail] of [
    [{ validAfter: last - 1, validBefore: last }, /not valid yet: see validAfter/],
    [{ validBefore: undefined }, /needs a validBefore/],
    [{ validBefore: last + 1 }, /no later than the challenge expires/],
  ] as const) {
    const refused = await resigned(proof, terms);
    await refusesBeforeWork(t, gateway, 'tempo', { call, proof: refused, type, detail });
  }
  // The chain takes so long a validity only with a nonce that counts.
  const nonce = Number(await rpc('eth_getTransactionCount', [payer.address, 'latest']));
  const lasting = await resigned(proof, { validBefore: last, nonceKey: undefined, nonce });
  t.equal((await sendProof(call, lasting)).status, 200);
});

async function fundedPasskey() {
  const passkey = Account.fromP256(P256.randomPrivateKey());
  for (const token of [currency as Hex, feeToken] as const) {
    await Actions.token.transferSync(client, {
      account: payer,
      amount: 10n * PRICE,
      to: passkey.address,
      token,
      feeToken,
    });
  }
  return passkey;
}

t.test('a signature that only the chain can check is settled before the work', async (t) => {
  const passkey = await fundedPasskey();
  const call = fresh();
  const proof = await signed(await unpaid(call), passkey);
  const earned = await gateway.earned('tempo');
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  t.equal((await sendProof(call, proof)).status, 500);
  t.equal((await gateway.earned('tempo')) - earned, PRICE, 'settled, and owed');
  t.equal((await sendProof(call, proof)).status, 200);
  t.equal((await gateway.earned('tempo')) - earned, PRICE, 'once');
});

/** A key that says it acts for the payer. */
const newKey = () => Account.fromSecp256k1(generatePrivateKey(), { access: payer.address });

t.test('who signs in the name of another is refused before any work, and the other pays as before', async (t) => {
  for (let times = 0; times < 3; times += 1) {
    const call = fresh();
    const forged = await resigned(await signed(await unpaid(call)), {}, newKey());
    const detail = /signed by a key that does not act for its sender/;
    await refusesBeforeWork(t, gateway, 'tempo', { call, proof: forged, type: /verification-failed$/, detail });
  }
  const call = fresh();
  t.equal((await sendProof(call, await signed(await unpaid(call)))).status, 200);
});

t.test('a key that acts for the payer pays: it is no proof of the payer, and counts as itself', async (t) => {
  const key = newKey();
  await Actions.accessKey.authorizeSync(client, { account: payer, accessKey: key, feeToken });
  const { payment } = await verified({ change: (proof) => resigned(proof, {}, key) });
  const caller = key.accessKeyAddress;
  t.match(payment, { payer: payer.address.toLowerCase(), payerIsProven: false, caller, upfront: 'contract' });
});

t.test('a passkey proves its payer, and settles first all the same', async (t) => {
  const passkey = await fundedPasskey();
  const { payment } = await verified({ change: (proof) => resigned(proof, { gas: 1_000_000n }, passkey) });
  t.match(payment, { payer: passkey.address.toLowerCase(), payerIsProven: true, upfront: 'contract' });
});

t.test('a transaction that leaves its fees to somebody else is refused where nobody bears them', async (t) => {
  const call = fresh();
  const refused = await resigned(await signed(await unpaid(call)), { feePayerSignature: null });
  const detail = /nobody bears the fees of a payer here/;
  await refusesBeforeWork(t, gateway, 'tempo', { call, proof: refused, type: /verification-failed$/, detail });
});

t.test('a transaction that the node has already is not refused, and its payer gets the answer', async (t) => {
  const call = fresh();
  const proof = await signed(await unpaid(call));
  const earned = await gateway.earned('tempo');
  await rpc('evm_setIntervalMining', [0]);
  t.teardown(() => rpc('evm_setIntervalMining', [1]));
  await rpc('eth_sendRawTransaction', [decoded(proof).payload.signature]);
  const pending = await sendProof(call, proof);
  t.equal(pending.status, 409);
  t.match(await pending.json(), { error: { code: 'settlement_pending' } });
  await rpc('evm_mine', []);
  t.equal((await sendProof(call, proof)).status, 200);
  t.equal((await gateway.earned('tempo')) - earned, PRICE);
});

t.test(
  'a node that is asked too often has refused nothing: what was worked for is paid by the same payment',
  async (t) => {
    const call = fresh();
    const proof = await signed(await unpaid(call));
    const earned = await gateway.earned('tempo');
    const { upstreamCalls } = await gateway.calls();
    isLimited = true;
    const answer = await sendProof(call, proof);
    isLimited = false;
    t.match(await answer.json(), { error: { code: 'settlement_pending' } });
    t.equal((await sendProof(call, proof)).status, 200);
    t.equal((await gateway.earned('tempo')) - earned, PRICE);
    t.equal((await gateway.calls()).upstreamCalls - upstreamCalls, 1, 'worked for once');
  },
);

/** As the official Python SDK (pympp 0.10, `TempoMethod`) signs: the account's next nonce, and no end. */
async function endless(proof: { authorization: string }, key = 0n): Promise<{ authorization: string }> {
  const next =
    key === 0n
      ? Number(await rpc('eth_getTransactionCount', [payer.address, 'pending']))
      : Number(await Actions.nonce.getNonce(client, { account: payer.address, nonceKey: key }));
  return resigned(proof, {
    validBefore: undefined,
    nonceKey: key,
    nonce: next,
    feeToken: currency as Hex,
    gas: 1_000_000n,
  });
}

for (const [name, key] of [
  ["the account's own sequence", 0n],
  ['a sequence of its own', 7n],
] as const) {
  t.test(`a transaction without an end pays, with a nonce of ${name}: it settles first`, async (t) => {
    const call = fresh();
    const proof = await endless(await signed(await unpaid(call)), key);
    const earned = await gateway.earned('tempo');
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    const failed = await sendProof(call, proof);
    t.match(await failed.json(), { error: { code: 'result_owed' } });
    t.equal((await gateway.earned('tempo')) - earned, PRICE, 'settled, and owed');
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 200);
    t.ok(answer.headers.get('payment-receipt'));
    t.equal((await gateway.earned('tempo')) - earned, PRICE, 'once');
  });
}

for (const key of [0n, 9n]) {
  t.test(`a transaction without an end is not given up while its log may be on its way (key ${key})`, async (t) => {
    const call = fresh();
    const proof = await endless(await signed(await unpaid(call)), key);
    const earned = await gateway.earned('tempo');
    isBehind = true;
    const answer = await sendProof(call, proof);
    isBehind = false;
    t.match(await answer.json(), { error: { code: 'settlement_pending' } });
    t.equal((await gateway.earned('tempo')) - earned, PRICE, 'it has settled, and nobody heard of it');
    t.equal((await sendProof(call, proof)).status, 200, 'the node has caught up');
    t.equal((await gateway.earned('tempo')) - earned, PRICE, 'once');
  });
}

t.test('a transaction that offers less for gas than the chain takes is refused before any work', async (t) => {
  const call = fresh();
  const proof = await signed(await unpaid(call));
  const refused = await resigned(proof, { maxFeePerGas: 1n, maxPriorityFeePerGas: 0n });
  const detail = /offers 1 for a unit of gas, and the chain takes [1-9][0-9]+: sign with more/;
  await refusesBeforeWork(t, gateway, 'tempo', { call, proof: refused, type: /verification-failed$/, detail });
});

t.test('who has the price and not the fee in the token that pays for both is refused before any work', async (t) => {
  const poor = Account.fromSecp256k1(generatePrivateKey());
  const give = (amount: bigint) =>
    Actions.token.transferSync(client, { account: payer, amount, to: poor.address, token: currency as Hex, feeToken });
  await give(PRICE);
  const terms = { feeToken: currency as Hex, gas: 1_000_000n };
  const call = fresh();
  const proof = await signed(await unpaid(call));
  const type = /verification-failed$/;
  const detail = /has ([1-9][0-9]*) atomic units too little for the price and the fee of up to \1 together/;
  const refused = await resigned(proof, terms, poor);
  await refusesBeforeWork(t, gateway, 'tempo', { call, proof: refused, type, detail });
  const earned = await gateway.earned('tempo');
  // In attodollars: the chain keeps it back for the fee.
  await give((terms.gas * (transactionOf(proof).maxFeePerGas ?? 0n)) / 10n ** 12n);
  t.equal((await sendProof(call, await resigned(proof, terms, poor))).status, 200);
  t.equal((await gateway.earned('tempo')) - earned, PRICE);
});

for (const [what, end] of [
  ['a transaction without an end', { validBefore: undefined }],
  ['one with an end that takes a place in a sequence', {}],
] as const) {
  t.test(`${what} is the payer's next one, or is refused before any work`, async (t) => {
    const call = fresh();
    const proof = await signed(await unpaid(call));
    const next = Number(await rpc('eth_getTransactionCount', [payer.address, 'latest']));
    const type = /verification-failed$/;
    for (const [nonce, detail] of [
      [next + 1, /comes after transactions that the chain does not have: sign with/],
      [next - 1, /has been used: sign with/],
    ] as const) {
      const refused = await resigned(proof, { ...end, nonceKey: 0n, nonce });
      await refusesBeforeWork(t, gateway, 'tempo', { call, proof: refused, type, detail });
    }
  });

  t.test(`${what}, sent by its payer and on the chain already, gets the answer that it paid for`, async (t) => {
    const call = fresh();
    const earned = await gateway.earned('tempo');
    const nonce = Number(await rpc('eth_getTransactionCount', [payer.address, 'pending']));
    const cost = { feeToken: currency as Hex, gas: 1_000_000n };
    const proof = await resigned(await signed(await unpaid(call)), { ...end, ...cost, nonceKey: 0n, nonce });
    await rpc('eth_sendRawTransactionSync', [decoded(proof).payload.signature]);
    t.equal((await sendProof(call, proof)).status, 200);
    t.equal((await gateway.earned('tempo')) - earned, PRICE, 'once');
  });
}

/** A rail of its own over the same chain, and a verified payment. */
async function verified({
  change,
  ...changes
}: {
  change?: (proof: { authorization: string }) => Promise<{ authorization: string }>;
  rpcUrl?: string;
  currency?: string;
  feePayerKey?: string;
} = {}) {
  const recipient = `0x${randomBytes(20).toString('hex')}`;
  const options = { rpcUrl, chainId, currency, recipient, ...changes };
  // By its clock no time passes: what is signed now ends soon.
  const opened = Date.now();
  const now = () => opened;
  const rail = openMppRail({ exposure: noExposure, secrets: [secret], realm: '127.0.0.1', tempo: options, now });
  const quote = quoteOf(requestOf('{"prompt":"fog"}'));
  const [challenge = ''] = challengesOf(rail.http.challenge(rail.challenge(quote)));
  const asSigned = await signed(new Response(null, { status: 402, headers: { 'www-authenticate': challenge } }));
  const headers = change ? await change(asSigned) : asSigned;
  const proof = rail.http.read({ ...quote.request, headers });
  if (!proof) throw new Error('the credential was not read');
  const payment = await rail.verify(proof, quote);
  const { calls, validBefore = 0 } = transactionOf(headers);
  const memo: Hex = `0x${calls?.[0]?.data?.slice(-64)}`;
  return { rail, quote, payment, recipient: recipient as Hex, memo, validBefore };
}

t.test('a node that has the transaction, or may have it, in whatever words, has not refused it', async (t) => {
  let complaint = { code: 0, message: '' };
  const node = await serve(async (_request, response, body) => {
    const { method, params }: { method: string; params: unknown[] } = JSON.parse(body);
    const sends = method.startsWith('eth_sendRawTransaction');
    json(response, 200, sends ? { id: 1, error: complaint } : { id: 1, result: await rpc(method, params) });
  });
  t.teardown(node.stop);
  for (const [code, message, state] of [
    [-32_000, 'already known', 'unknown'],
    [-32_000, 'transaction already imported', 'unknown'],
    [-32_000, 'nonce too low', 'unknown'],
    [-32_603, 'internal error', 'unknown'],
    [-32_005, 'too many requests', 'unknown'],
    [-32_002, 'resource unavailable', 'unknown'],
    [-32_000, 'request timed out', 'unknown'],
    [-32_000, 'transaction type not supported', 'refused'],
    [-32_003, 'transaction rejected', 'refused'],
  ] as const) {
    complaint = { code, message };
    const { quote, payment } = await verified({ rpcUrl: node.url });
    t.match(await payment.settle(quote.amount), { state }, message);
  }
});

t.test('a node that is gone before the transaction is sent has not refused it', async (t) => {
  let isGone = false;
  const node = await serve(async (_request, response, body) => {
    if (isGone) return response.destroy();
    const { method, params }: { method: string; params: unknown[] } = JSON.parse(body);
    json(response, 200, { id: 1, result: await rpc(method, params) });
  });
  t.teardown(node.stop);
  const { rail, quote, payment } = await verified({ rpcUrl: node.url });
  isGone = true;
  t.match(await payment.settle(quote.amount), { state: 'unknown', reason: 'the chain gave no answer' });
  isGone = false;
  t.match(await rail.recover(payment.recoveryQuery), { state: 'unknown', unused: true }, 'it is still open');
  t.match(await payment.settle(quote.amount), { state: 'settled' });
});

t.test('the nonce of an expiring transaction may be any number of 64 bits', async (t) => {
  const { payment } = await verified({ change: (proof) => resigned(proof, { nonce: 2 ** 60 }) });
  t.match(payment, { payer: payer.address.toLowerCase(), payerIsProven: true, upfront: undefined });
});

/** What asks for transactions whose nonces have gone to others. */
const replacedOnes: (() => ReturnType<ReturnType<typeof openMppRail>['recover']>)[] = [];

t.test("without an end, the payer's nonce tells what became of a transaction", async (t) => {
  for (const key of [0n, 8n]) {
    const withKey = (proof: { authorization: string }) => endless(proof, key);
    const { rail, quote, payment } = await verified({ change: withKey });
    const { rail: other, payment: replaced } = await verified({ change: withKey });
    t.match(payment, { payerIsProven: true, upfront: 'deadline' });
    t.match(await rail.recover(payment.recoveryQuery), { state: 'unknown' }, 'not sent');
    t.match(await payment.settle(quote.amount), { state: 'settled' });
    t.match(await rail.recover(payment.recoveryQuery), { state: 'settled', amount: payment.amount });
    const recover = () => other.recover(replaced.recoveryQuery);
    t.match(await recover(), { state: 'unknown', reason: /used just now/ });
    replacedOnes.push(recover);
  }
});

t.test(
  'a sponsored transaction names its payer itself: its signature is looked at, and it is settled first',
  async (t) => {
    const { payment } = await verified({ feePayerKey: generatePrivateKey(), currency: feeToken });
    t.match(payment, { payer: payer.address.toLowerCase(), payerIsProven: true, upfront: 'contract' });
    const { payment: unsponsored } = await verified();
    t.match(unsponsored, { payer: payer.address.toLowerCase(), payerIsProven: true, upfront: undefined });
  },
);

t.test('a transfer of another amount under the memo of the payment is not the payment', async (t) => {
  const { rail, quote, payment, recipient: to, memo } = await verified();
  await Actions.token.transferSync(client, { account: payer, amount: 1n, to, token: currency as Hex, memo, feeToken });
  t.match(await rail.recover(payment.recoveryQuery), { state: 'unknown' });
  t.match(await payment.settle(quote.amount), { state: 'settled' });
  t.match(await rail.recover(payment.recoveryQuery), {
    state: 'settled',
    amount: payment.amount,
  });
});

t.test('an unseen transaction has failed once the chain is more than a minute past its end', async (t) => {
  const { rail, payment, validBefore } = await verified();
  await rpc('evm_setIntervalMining', [0]);
  for (const [late, state] of [
    [60, 'unknown'],
    [61, 'refused'],
  ] as const) {
    await rpc('evm_setNextBlockTimestamp', [validBefore + late]);
    await rpc('evm_mine', []);
    t.match(await rail.recover(payment.recoveryQuery), { state }, `${late} s`);
  }
});

t.test('a transaction that was signed for another chain is refused, whatever else it says', (t) => {
  const signed = { chainId: chainId + 1, memo: `0x${'0'.repeat(64)}`, validAfter: 0, nonce: { key: 0n, value: 0n } };
  t.throws(
    () =>
      checkSignedTransfer(
        signed as unknown as Parameters<typeof checkSignedTransfer>[0],
        { chainId, challengeExpires: Date.now() + 60_000 },
        Date.now(),
      ),
    { message: `the transaction is for chain ${chainId + 1}, asked is ${chainId}` },
  );
  t.end();
});

t.test('without an end, a transaction has failed once another has had its nonce for a minute', async (t) => {
  await mine(rpc, 120);
  t.equal(replacedOnes.length, 2);
  const reason = /used the nonce for another/;
  for (const recover of replacedOnes) t.match(await recover(), { state: 'refused', reason }, 'it took its place');
});
