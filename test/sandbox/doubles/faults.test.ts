import t, { type Test } from 'tap';
import type { Upstream } from '../../../src/catalogue/types.ts';
import { sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';

const named = (name: string, adapter: string): Upstream => ({ name, adapter, baseUrl: 'https://provider.example' });
const headers = { authorization: `Bearer ${sandboxSecret('KEY')}`, 'x-api-key': sandboxSecret('KEY') };

async function open(t: Test) {
  const doubles = await startDoubles({
    upstreams: [named('painter', 'replicate-predictions'), named('tokens', 'tokens-xyz')],
  });
  t.teardown(() => doubles.close());
  const get = async (upstream: string, path: string) => fetch(doubles.baseUrlOf(upstream) + path, { headers });
  const create = async (input: object = { prompt: 'a boat' }) =>
    fetch(`${doubles.baseUrlOf('painter')}/models/maker/model/predictions`, {
      method: 'POST',
      headers: { ...headers, prefer: 'wait' },
      body: JSON.stringify({ input }),
    });
  return { doubles, get, create };
}

t.test('fails so many billed calls of one upstream, and no more', async (t) => {
  const { doubles, get, create } = await open(t);
  doubles.fault('tokens', '500', 2);
  const statuses = [];
  for (let call = 0; call < 3; call += 1) statuses.push((await get('tokens', '/assets/solana')).status);
  t.same(statuses, [500, 500, 200]);
  t.equal((await create()).status, 201, 'another upstream is not touched');
});

t.test('takes back the faults that have not come yet', async (t) => {
  const { doubles, get } = await open(t);
  doubles.fault('tokens', '500', 3);
  t.equal((await get('tokens', '/assets/solana')).status, 500);
  doubles.clearFaults('tokens');
  t.equal((await get('tokens', '/assets/solana')).status, 200);
});

/** Once it is drawn: the answer to its order comes sooner on a busy machine. */
async function outputOf(id: string, get: (upstream: string, path: string) => Promise<Response>): Promise<string> {
  for (;;) {
    const answer = await get('painter', `/predictions/${id}`);
    if (answer.status !== 200) throw new Error(`a poll was answered ${answer.status}`);
    const { output } = (await answer.json()) as { output: string | null };
    if (output !== null) return output;
  }
}

t.test('counts and fails what is billed alone: not polls, not files', async (t) => {
  const { doubles, get, create } = await open(t);
  const { id } = (await (await create()).json()) as { id: string };
  doubles.fault('painter', '500', 1);
  const output = await outputOf(id, get);
  t.equal((await fetch(output)).status, 200);
  t.same(doubles.calls(), { painter: 1, tokens: 0 });
  t.equal((await create()).status, 500);
  t.same(doubles.calls(), { painter: 2, tokens: 0 });
});

t.test('draws the same picture for the same request, and another for another', async (t) => {
  const { create, get } = await open(t);
  const address = async (prompt: string) =>
    outputOf(((await (await create({ prompt })).json()) as { id: string }).id, get);
  t.equal(await address('a boat'), await address('a boat'));
  t.not(await address('a boat'), await address('a ship'));
});

t.test('refuses an upstream or adapter that it does not know, by name', async (t) => {
  const { doubles } = await open(t);
  t.throws(() => doubles.fault('nobody', '500', 1), /no upstream nobody; there are painter, tokens/);
  await t.rejects(startDoubles({ upstreams: [named('x', 'no-such-adapter')] }), /no-such-adapter has no double/);
});

t.test('ends waiting calls when it closes', async (t) => {
  const doubles = await startDoubles({ upstreams: [named('tokens', 'tokens-xyz')] });
  doubles.fault('tokens', 'timeout', 1);
  const waiting = t.rejects(fetch(`${doubles.baseUrlOf('tokens')}/assets/solana`, { headers }));
  while (doubles.calls().tokens === 0) await new Promise(setImmediate);
  await doubles.close();
  await waiting;
});

const facts = {
  So11111111111111111111111111111111111111112: 'solana',
  'solana-EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v': 'usd',
  XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB: 'tesla',
  anduril: 'pre-anduril',
};
for (const [ref, assetId] of Object.entries(facts)) {
  t.test(`knows what tokens.xyz calls ${ref}, with and without the version in the path`, async (t) => {
    const { get } = await open(t);
    t.match(await (await get('tokens', `/v1/assets/resolve?ref=${ref}`)).json(), { assetId, asset: { assetId } });
    t.match(await (await get('tokens', `/assets/${ref}`)).json(), { asset: { assetId, advisories: [] } });
  });
}

t.test('pages curated lists where it is asked to, and shows all variants', async (t) => {
  const { get } = await open(t);
  const page = await (await get('tokens', '/assets/curated?list=majors&limit=2&variants=all')).json();
  t.match(page, { listId: 'majors', pagination: { offset: 0, limit: 2, total: 5, hasMore: true, nextOffset: 2 } });
  t.match(page, { assets: [{ variants: [{ mint: String, market: {}, advisory: null }] }, { variants: Array }] });
});
