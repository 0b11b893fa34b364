/** What a call sells: a result that fits its schema, in time, priced by what is in it. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { divideUp } from '../../../src/money.ts';
import { request, sendProof, signProof, signUpto } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { startPostgres } from '../../postgres.ts';

/** The catalogue with a few words of its endpoints changed. */
function changedCatalogue(changes: Record<string, readonly [from: string, to: string]>): string {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-catalogue-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  copySelling(['image/family-a-2-flex', 'llm/vendor5-k3', 'credits/credits'], directory);
  for (const [name, [from, to]] of Object.entries(changes)) {
    const file = join(directory, 'endpoints', `${name}.yaml`);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(from)) throw new Error(`${name} does not say ${from}`);
    writeFileSync(file, text.replace(from, to));
  }
  // So that strangers' purchases settle after the result.
  appendFileSync(join(directory, 'service.yaml'), '\nexposure: { new: "2.00" }\n');
  return directory;
}

const UNFIT = `
result:
  required: [image_url, image_description]
  properties: { image_url: { type: string }, image_description: { type: string, enum: [an engraving] } }
  examples: [{ image_url: https://turnpike.example/media/3f7a9c2e51d0b846.png, image_description: an engraving }]
`;
const database = await startPostgres();
t.teardown(database.stop);
const gateway = await startGateway({
  networks: ['chain-c'],
  tempo: true,
  environment: { DATABASE_URL: database.url },
  catalogue: changedCatalogue({
    'image/family-a-2-flex': ['\nresult: { $ref: image-result }\n', UNFIT],
    'llm/vendor5-k3': ['\nprice:', '\nenvelope: data\nprice:'],
    'credits/credits': ['deadline: 10s', 'deadline: 1s'],
  }),
});
t.teardown(gateway.stop);

t.test('a result that does not fit its schema is not sold', async (t) => {
  const call = request(gateway, '/image/family-a-2-flex', { prompt: 'a lighthouse' });
  const proof = await signProof(gateway, 'chain-c', call);
  const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
  const answer = await sendProof(call, proof);
  const body = await answer.text();
  t.equal(answer.status, 500);
  t.match(JSON.parse(body), { error: { code: 'upstream_invalid_result' } });
  t.notMatch(body, /image_url|engraving/, 'nor told');
  t.equal(answer.headers.get('payment-response'), null);
  t.equal(await gateway.earned('chain-c'), earned);
  t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1, 'the provider did answer');
});

t.test('what was used is read from a result in an envelope as from any other', async (t) => {
  const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 2000 });
  const earned = await gateway.earned('chain-c');
  const answer = await sendProof(call, await signUpto(gateway, 'chain-c', call));
  const text = await answer.text();
  t.equal(answer.status, 200, text);
  const { success, data } = JSON.parse(text);
  t.equal(success, true);
  const { prompt_tokens, completion_tokens } = data.usage;
  // 3.30 and 16.50 dollars for a million tokens.
  const cost = divideUp(BigInt(prompt_tokens) * 33n + BigInt(completion_tokens) * 165n, 10n);
  t.equal((await gateway.earned('chain-c')) - earned, cost);
});

t.test('a call whose provider goes on after its deadline ends all the same, and is not charged', async (t) => {
  // Where a sale has more than that second. It is there before the payment is signed, which is good for a minute.
  const url = await gateway.startAnother(undefined, 'catalogue');
  const call = request(gateway, '/v1/credits', { amount_usd: '1' });
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // Credits are sold by the gateway itself: as long as nobody may write them, the sale heeds no deadline.
  await client.query('BEGIN; LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
  const late = await sendProof(call, proof);
  await client.query('ROLLBACK');
  await client.end();
  t.equal(late.status, 500);
  t.match(await late.json(), { error: { code: 'upstream_timeout' } });
  t.equal(await gateway.earned('chain-c'), earned);
  const answer = await sendProof({ ...call, url: call.url.replace(gateway.url, url) }, proof);
  t.equal(answer.status, 200, await answer.clone().text());
  t.match(await answer.json(), { api_key: /^tp_sandbox_/, balance_usd: '1' });
  t.equal((await gateway.earned('chain-c')) - earned, 1_000_000n);
});
