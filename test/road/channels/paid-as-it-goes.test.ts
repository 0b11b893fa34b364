/** An API key whose calls bring their own payment: each buys as much credit as the call may cost. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import OpenAI from 'openai';
import t from 'tap';
import { openApiKeys } from '../../../src/credits/api-keys.ts';
import { toDecimal, usd } from '../../../src/money.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { openChannel, toldOf } from '../../channels.ts';
import { type PaidCall, payingFetch, payV2, request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { picturesWith } from '../../settling-first.ts';

const written: string[] = [];
const write = (details: object, message: string) => void written.push(`${inspect(details, { depth: 9 })} ${message}`);
const gateway = await startGateway({
  catalogue: picturesWith(t, '{ channels: true }', 'credits', 'llm/multi-model'),
  networks: ['chain-a', 'chain-c'],
  log: { debug: write, info: write, warn: write, error: write },
});
t.teardown(gateway.stop);

const MODEL = 'vendor5-k3';
const ask = { model: MODEL, messages: [{ role: 'user' as const, content: 'Why does fog lift?' }], max_tokens: 1000 };
/** 3.30 and 16.50 dollars a million tokens, in millionths. */
const priceOf = (usage: { prompt_tokens: number; completion_tokens: number } | null | undefined) =>
  BigInt(Math.ceil(((usage?.prompt_tokens ?? 0) * 33 + (usage?.completion_tokens ?? 0) * 165) / 10));

let opened = 0;
/** A channel that nobody has used before. */
const another = (options = {}) => {
  opened += 1;
  return openChannel(gateway, { salt: `0x${(4096 + opened).toString(16).padStart(64, '0')}`, ...options });
};

/** A new key with a cent on it, which is too little for any call here. */
async function newKey(): Promise<string> {
  const bought = await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: '0.01' }));
  t.equal(bought.status, 200);
  return ((await bought.json()) as { api_key: string }).api_key;
}

const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });

const chat = (apiKey: string, body: object = ask): PaidCall => {
  const { url, init } = request(gateway, '/v1/chat/completions', body);
  return { url, init: { ...init, headers: { ...init.headers, ...bearer(apiKey) } } };
};

interface Credits {
  readonly balance_usd: string;
  readonly held_usd: string;
  readonly entries: readonly { readonly kind: string; readonly amount_usd: string }[];
}
const creditsOf = async (apiKey: string): Promise<Credits> =>
  (await (await fetch(`${gateway.url}/v1/credits`, { headers: bearer(apiKey) })).json()) as Credits;
const balanceOf = async (apiKey: string) => usd((await creditsOf(apiKey)).balance_usd);
const purchasesOf = async (apiKey: string) =>
  (await creditsOf(apiKey)).entries.filter(({ kind }) => kind === 'purchase').map(({ amount_usd }) => amount_usd);

const codeOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { error: { code: string } }).error.code;

const termsOf = (answer: Response) =>
  JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString());

/** The official client over a fetch that pays, and what it was answered. */
function openAi(apiKey: string, paying: typeof fetch) {
  const answers: Response[] = [];
  const client = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey,
    maxRetries: 0,
    fetch: async (input, init) => {
      const answer = await paying(input, init);
      answers.push(answer);
      return answer;
    },
  });
  return { client, answers };
}

/** What a stream says, and what it used. */
async function streamed(client: OpenAI, body: typeof ask) {
  let text = '';
  let usage: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of await client.chat.completions.create({
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  })) {
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  return { text, usage };
}

t.test(
  'the 402 of a call that costs more than there is says how to pay for it, in version 2’s header alone',
  async (t) => {
    const apiKey = await newKey();
    const unpaid = await fetch(chat(apiKey).url, chat(apiKey).init);
    t.equal(unpaid.status, 402);
    const { x402Version, accepts, resource } = termsOf(unpaid);
    const body = (await unpaid.json()) as { error: { needed_usd: string; code: string } };
    t.same(Object.keys(body), ['error']);
    t.equal(body.error.code, 'insufficient_credits');
    t.equal(x402Version, 2);
    t.equal(resource.url, `${gateway.url}/v1/credits`);
    t.match(
      accepts.map(({ scheme }: { scheme: string }) => scheme),
      ['exact', 'exact', 'batch-settlement'],
    );
    for (const { amount } of accepts) t.equal(amount, String(usd(body.error.needed_usd)));
    t.notMatch(JSON.stringify(termsOf(await fetch(chat(apiKey).url, chat(apiKey).init))), new RegExp(apiKey));
  },
);

t.test('an unmodified OpenAI client streams against vouchers of one deposit, to the unit', async (t) => {
  const apiKey = await newKey();
  const payer = another({ deposit: 1_000_000n });
  const { client, answers } = openAi(apiKey, payer.fetch);
  const spendable = await gateway.spendable('chain-c');
  let used = 0n;
  for (let number = 0; number < 5; number += 1) {
    // Each costs more than the ones before have left.
    const body = { ...ask, max_tokens: 1000 * 2 ** number };
    const isStreamed = number % 2 === 0;
    const plain = isStreamed ? undefined : await client.chat.completions.create(body);
    const { text, usage } = plain
      ? { text: plain.choices[0]?.message.content, usage: plain.usage }
      : await streamed(client, body);
    t.match(text, /fog lift/);
    used += priceOf(usage);
    const type = answers.at(-1)?.headers.get('content-type') ?? '';
    t.match(type, isStreamed ? /^text\/event-stream/ : /^application\/json/);
  }
  const paid = answers.filter(({ headers }) => headers.has('payment-response')).map(toldOf);
  t.equal(paid.length, 5);
  const charged = paid.reduce((sum, { extra }) => sum + BigInt(extra.chargedAmount), 0n);
  t.equal(paid.at(-1)?.extra.channelState.chargedCumulativeAmount, String(charged));
  const [first] = paid;
  t.equal(first?.extra.channelState.balance, '1000000');
  t.equal(spendable - (await gateway.spendable('chain-c')), 1_000_000n, 'one deposit, and nothing else');
  const bought = (await purchasesOf(apiKey)).reduce((sum, amount) => sum + usd(amount), 0n);
  t.equal(bought, usd('0.01') + charged);
  const credits = await creditsOf(apiKey);
  t.equal(credits.held_usd, '0');
  t.equal(usd(credits.balance_usd), bought - used);
  const entered = credits.entries.reduce(
    (sum, { amount_usd: amount }) => sum + (amount.startsWith('-') ? -usd(amount.slice(1)) : usd(amount)),
    0n,
  );
  t.equal(entered, usd(credits.balance_usd));
  const { amount } = await payer.scheme.refund(`${gateway.url}/v1/channels`);
  t.equal(BigInt(String(amount)), 1_000_000n - charged, 'the rest of the deposit is its payer’s');
  t.equal(spendable - (await gateway.spendable('chain-c')), charged);
});

t.test('what one call leaves is credit for the next, which is not paid for', async (t) => {
  const apiKey = await newKey();
  const { client, answers } = openAi(apiKey, another().fetch);
  await client.chat.completions.create(ask);
  const left = await balanceOf(apiKey);
  t.ok(left > 0n);
  await client.chat.completions.create({ ...ask, max_tokens: 10 });
  t.same(
    answers.map(({ headers }) => headers.has('payment-response')),
    [true, false],
  );
  t.equal((await purchasesOf(apiKey)).length, 2);
});

t.test('a call is paid for by the scheme exact as well', async (t) => {
  const apiKey = await newKey();
  const spendable = await gateway.spendable('chain-c');
  const { client, answers } = openAi(apiKey, await payingFetch(gateway, 'chain-c'));
  const { text, usage } = await streamed(client, ask);
  t.match(text, /fog lift/);
  const told = toldOf(answers[0] ?? new Response());
  t.match(told, { success: true, transaction: /^0x[0-9a-f]{64}$/ });
  t.equal(spendable - (await gateway.spendable('chain-c')), BigInt(told.amount));
  t.equal(await balanceOf(apiKey), usd('0.01') + BigInt(told.amount) - priceOf(usage));
});

t.test('what was paid for a call that its provider failed stays on the key, and the payer is told', async (t) => {
  const apiKey = await newKey();
  const payer = another();
  await gateway.fault({ upstream: 'chat', fault: '500' });
  const failed = await payer.buy(chat(apiKey));
  t.equal(failed.status, 500);
  const told = toldOf(failed);
  t.equal(told.success, true);
  const charged = usd(toDecimal(BigInt(told.extra.chargedAmount)));
  t.equal(await balanceOf(apiKey), usd('0.01') + charged);
  t.equal((await creditsOf(apiKey)).held_usd, '0');
  const again = await payer.buy(chat(apiKey));
  t.equal(again.status, 200);
  t.notOk(again.headers.has('payment-response'), 'it was paid for before');
});

t.test('the same payment buys once, and a call that is sent with it again is paid from the balance', async (t) => {
  const apiKey = await newKey();
  const payer = another();
  const call = chat(apiKey);
  const proof = await payer.sign(call);
  const first = await sendProof(call, proof);
  t.equal(first.status, 200);
  const { usage } = (await first.json()) as { usage: OpenAI.CompletionUsage };
  const left = await balanceOf(apiKey);
  const bought = await purchasesOf(apiKey);
  const { upstreamCalls } = await gateway.calls();
  let spent = 0n;
  for (;;) {
    const again = await sendProof(call, proof);
    t.same(toldOf(again), toldOf(first), 'it tells of the one purchase');
    if (again.status === 402) {
      t.equal(await codeOf(again), 'insufficient_credits');
      break;
    }
    t.equal(again.status, 200, await again.clone().text());
    await again.arrayBuffer();
    spent += priceOf(usage);
  }
  t.same(await purchasesOf(apiKey), bought);
  t.equal(await balanceOf(apiKey), left - spent);
  t.ok((await gateway.calls()).upstreamCalls >= upstreamCalls);
});

t.test('a voucher is for one key and one amount', async (t) => {
  const [ours, theirs] = [await newKey(), await newKey()];
  const payer = another();
  const proof = await payer.sign(chat(ours));
  t.equal((await sendProof(chat(ours), proof)).status, 200);
  const stolen = await sendProof(chat(theirs), proof);
  t.equal(stolen.status, 402);
  t.equal(await codeOf(stolen), 'payment_refused');
  t.equal(termsOf(stolen).error, 'invalid_batch_settlement_evm_cumulative_amount_mismatch');
  t.equal(await balanceOf(theirs), usd('0.01'));

  const signed = await another().sign(chat(theirs));
  for (const max_tokens of [900, 1100]) {
    const other = await sendProof(chat(theirs, { ...ask, max_tokens }), signed);
    t.equal(other.status, 402, `${max_tokens}`);
    t.equal(await codeOf(other), 'payment_refused');
  }
  t.equal(await balanceOf(theirs), usd('0.01'));
});

t.test('exact payments as well: another key, or another amount, is refused', async (t) => {
  const [ours, theirs] = [await newKey(), await newKey()];
  const proof = await signProof(gateway, 'chain-c', chat(ours));
  const lower = await sendProof(chat(ours, { ...ask, max_tokens: 900 }), proof);
  t.equal(lower.status, 402);
  t.equal(await codeOf(lower), 'payment_refused');
  t.equal((await sendProof(chat(ours), proof)).status, 200);
  const stolen = await sendProof(chat(theirs), proof);
  t.equal(stolen.status, 402);
  t.match(await stolen.json(), { error: { code: 'payment_refused', message: /another request/ } });
  t.equal(await balanceOf(theirs), usd('0.01'));
});

t.test('without a key that is good and may be used for the call, nothing is claimed', async (t) => {
  const apiKey = await newKey();
  const payer = another();
  const proof = await payer.sign(chat(apiKey));
  const spendable = await gateway.spendable('chain-c');
  const unknown = `${apiKey.slice(0, -4)}0000`;
  for (const headers of [{}, bearer(unknown)]) {
    const { url, init } = request(gateway, '/v1/chat/completions', ask);
    const answer = await fetch(url, { ...init, headers: { ...init.headers, ...headers, ...proof } });
    t.equal(answer.status, 401);
    t.notOk(answer.headers.has('payment-response'));
  }
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  t.teardown(() => store.close());
  const keys = openApiKeys({ store: store.credits, mode: 'sandbox', now: Date.now });
  const expired = await keys.create({ label: 'expired', expiresAt: Date.now() - 1 });
  const disabled = await keys.create({ label: 'disabled' });
  await store.credits.disableKey(disabled.id, Date.now());
  const limited = await keys.create({ label: 'a cent a day', limits: { perDay: usd('0.01') } });
  const narrow = await keys.create({ label: 'another model', limits: { models: ['vendor6-5.1'] } });
  for (const [key, status] of [
    [expired, 401],
    [disabled, 401],
    [limited, 429],
    [narrow, 403],
  ] as const) {
    const answer = await sendProof(chat(key.apiKey), proof);
    t.equal(answer.status, status);
    t.notOk(answer.headers.has('payment-response'));
    t.equal(await keys.find(key.apiKey).then((found) => found?.balance), 0n);
  }
  t.equal(await gateway.spendable('chain-c'), spendable);
  t.equal((await sendProof(chat(apiKey), proof)).status, 200, 'the payment is as good as before');
});

t.test('a payment that is not needed is taken all the same, as a top-up', async (t) => {
  const apiKey = await newKey();
  const payer = another();
  const proof = await payer.sign(chat(apiKey));
  await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: '1', api_key: apiKey }));
  const answer = await sendProof(chat(apiKey), proof);
  t.equal(answer.status, 200);
  const { usage } = (await answer.json()) as { usage: OpenAI.CompletionUsage };
  const charged = BigInt(toldOf(answer).extra.chargedAmount);
  t.equal(await balanceOf(apiKey), usd('1.01') + charged - priceOf(usage));
});

t.test('calls at once from one channel are answered or refused, and each payment is charged once', async (t) => {
  const apiKey = await newKey();
  const payer = another({ deposit: 1_000_000n });
  t.equal((await payer.buy(chat(apiKey))).status, 200);
  const calls = Array.from({ length: 6 }, (_, number) =>
    chat(apiKey, { ...ask, max_tokens: 1000 + (number % 3), messages: [{ role: 'user', content: `Why? ${number}` }] }),
  );
  const answers = await Promise.all(calls.map((call) => payer.buy(call)));
  let used = 0n;
  for (const answer of answers) {
    t.ok([200, 402, 409].includes(answer.status), String(answer.status));
    const body = (await answer.json()) as { usage?: OpenAI.CompletionUsage; error?: { code: string } };
    if (answer.status === 200) used += priceOf(body.usage);
    else t.match(body.error?.code, /^(insufficient_credits|credits_pending|payment_refused|payment_in_progress)$/);
  }
  t.ok(used > 0n);
  const next = await payer.buy(chat(apiKey, { ...ask, max_tokens: 4000 }));
  t.equal(next.status, 200);
  const cumulative = BigInt(toldOf(next).extra.channelState.chargedCumulativeAmount);
  const bought = (await purchasesOf(apiKey)).reduce((sum, amount) => sum + usd(amount), 0n);
  t.equal(bought, usd('0.01') + cumulative, 'what the channel was charged is what the key was credited');
});

t.test('credits are sold from a deposit on top of a key, and a new key is not', async (t) => {
  const apiKey = await newKey();
  const schemesOf = async (body: object) => {
    const { url, init } = request(gateway, '/v1/credits', body);
    const { accepts } = termsOf(await fetch(url, init)) as { accepts: { scheme: string }[] };
    return [...new Set(accepts.map(({ scheme }) => scheme))];
  };
  t.same(await schemesOf({ amount_usd: '0.5' }), ['exact']);
  t.same(await schemesOf({ amount_usd: '0.5', api_key: apiKey }), ['exact', 'batch-settlement']);
  t.same(await schemesOf({ amount_usd: '0.5' }), ['exact'], 'whatever was asked before');
  const payer = another();
  const call = request(gateway, '/v1/credits', { amount_usd: '0.5', api_key: apiKey });
  const proof = await payer.sign(call);
  const first = await sendProof(call, proof);
  t.equal(first.status, 200);
  t.equal(await balanceOf(apiKey), usd('0.51'));
  const again = await sendProof(call, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(await again.text(), await first.text());
  t.equal(await balanceOf(apiKey), usd('0.51'));
  const fresh = request(gateway, '/v1/credits', { amount_usd: '0.5' });
  const refused = await sendProof(fresh, await another().sign(call));
  t.equal(refused.status, 402, 'a voucher buys no new key');
});

t.test('no key is in the log, nor anywhere in the database', async (t) => {
  const apiKey = await newKey();
  t.equal((await another().buy(chat(apiKey))).status, 200);
  t.ok(written.length > 0);
  t.notMatch(written.join(''), new RegExp(apiKey));
  const files = readdirSync(gateway.directory).filter((name) => name.startsWith('turnpike.sqlite'));
  t.ok(files.length > 0);
  const kept = files.map((name) => readFileSync(join(gateway.directory, name)).toString('latin1')).join('');
  const sold = `{\\"api_key\\":\\"${apiKey}`;
  t.equal(kept.split(sold).length, kept.split(apiKey).length, 'nothing but the answer that sold it has it');
});
