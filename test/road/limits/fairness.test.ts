/** Callers at one upstream: what one of them does to it, or makes it do, is not felt by the others. */
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { type PaidCall, request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { stoppedClock } from '../../stopped-clock.ts';

const [HASTY, PATIENT] = ['/llm/vendor3-5.2', '/llm/vendor1-fable-5'];

/** The shipped catalogue with one endpoint that has no time, and few turns at its provider. */
function catalogueOf(directory: string): string {
  cpSync('catalogue', directory, { recursive: true });
  const edit = (file: string, from: string | RegExp, to: string) => {
    const path = join(directory, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  };
  edit('endpoints/llm/vendor3-5.2.yaml', /^deadline: .*$/m, 'deadline: 1s');
  edit('upstreams.yaml', /^chat:\n/m, 'chat:\n  concurrency: 8\n');
  return directory;
}

/** A provider that thinks about some prompts until the test lets it go. */
const asked: { max_tokens?: number; max_completion_tokens?: number }[] = [];
const thinking = new Set<ServerResponse>();
const provider = createServer(async (incoming, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  asked.push(JSON.parse(body));
  if (body.includes('think hard')) {
    thinking.add(response);
    response.once('close', () => thinking.delete(response));
    provider.emit('thinking');
    return;
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Because.' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ id: 'gen-1', choices, usage }));
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  provider.close();
  provider.closeAllConnections();
});

/** A host whose files never end until the test ends them. */
const endless = new Set<ServerResponse>();
const files = createServer((_incoming, response) => {
  response.write('a');
  endless.add(response);
  files.emit('asked');
});
await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  files.close();
  files.closeAllConnections();
});
const filesOrigin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;

const gateway = await startGateway({
  catalogue: catalogueOf(t.testdir()),
  solanaNow: stoppedClock(),
  between: async ({ readFrom }) => ({
    readFrom: (url, options) =>
      url.hostname === 'endless.example.com' ? new URL(filesOrigin) : readFrom?.(url, options),
  }),
  upstreams: { chat: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
});
t.teardown(gateway.stop);

const ask = (path: string, prompt: string): PaidCall => request(gateway, path, { prompt });

/** So many calls of the attacker's at once, each with a payment of its own. */
async function attack(calls: number, call: PaidCall): Promise<Promise<Response>[]> {
  const proofs = await Promise.all(Array.from({ length: calls }, () => signProof(gateway, 'chain-c', call)));
  return proofs.map((proof) => sendProof(call, proof));
}

async function payHonestly(): Promise<Response> {
  const call = ask(PATIENT, 'Why does fog scatter light?');
  return sendProof(call, await signProof(gateway, 'chain-a', call));
}

t.test('calls made to time out refuse nobody else', async (t) => {
  const call = ask(HASTY, 'think hard');
  for (const answer of await Promise.all(await attack(12, call))) {
    t.equal(answer.status, 500);
    t.match(await answer.json(), { error: { code: 'upstream_timeout' } });
  }
  t.equal((await payHonestly()).status, 200);
});

t.test('calls that hold their turns for long keep nobody else waiting', async (t) => {
  const held = await attack(12, ask(PATIENT, 'think hard'));
  while (thinking.size < 4) await once(provider, 'thinking');
  const answer = await payHonestly();
  t.equal(answer.status, 200);
  t.ok(thinking.size >= 4, 'the others hold theirs still');
  let ended = false;
  const all = Promise.all(held).finally(() => {
    ended = true;
  });
  while (!ended) {
    for (const response of thinking) response.destroy();
    await new Promise(setImmediate);
  }
  for (const { status } of await all) t.equal(status, 500);
});

t.test('who has the gateway read too many files at a time is told so, and others are served', async (t) => {
  const transcribe = (host: string) =>
    request(gateway, '/audio/speech-to-text', { audio_file: `https://${host}.example.com/a.mp3` });
  const endlessly = transcribe('endless');
  const held = await attack(4, endlessly);
  while (endless.size < 4) await once(files, 'asked');
  const before = await gateway.calls();
  const [fifth] = await attack(1, endlessly);
  const refused = await fifth;
  t.equal(refused?.status, 429);
  t.ok(refused?.headers.get('retry-after'));
  t.match(await refused?.json(), { error: { code: 'too_many_requests', message: /At most 4 files/ } });
  const call = transcribe('files');
  t.equal((await sendProof(call, await signProof(gateway, 'chain-a', call))).status, 200);
  for (const response of endless) response.end();
  for (const { status } of await Promise.all(held)) t.equal(status, 400);
  t.equal((await gateway.calls()).settlementCount - before.settlementCount, 1, 'nobody else paid');
});

t.test('a model is asked for no more than it can write before the deadline, and the price stays', async (t) => {
  const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 65_536 });
  const proof = await signProof(gateway, 'chain-a', call);
  const sentAt = performance.now();
  const answer = await sendProof(call, proof);
  const seconds = (performance.now() - sentAt) / 1000;
  t.equal(answer.status, 200, await answer.text());
  const most = Number(asked.at(-1)?.max_tokens);
  // Two hundred a second: what had gone by as the provider was asked is not there to write in.
  t.ok(most >= 8192 - 200 * seconds && most <= 10_000, `${most} tokens for 50 seconds`);
  const { accepts } = JSON.parse(
    Buffer.from((await fetch(call.url, call.init)).headers.get('payment-required') ?? '', 'base64').toString(),
  );
  t.ok(
    accepts.every(({ amount }: { amount: string }) => BigInt(amount) >= 65_536n * 16n),
    'all that was asked for',
  );
});
