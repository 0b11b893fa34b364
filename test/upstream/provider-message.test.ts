import { inspect } from 'node:util';
import { pino } from 'pino';
import t from 'tap';
import { callInOrder } from '../../src/upstream/fallback.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';
import { openServed } from './served-routes.ts';

const PROMPT = 'a secret plan of a lighthouse';

/** What a log of that level holds once every source has failed, the error itself included. */
async function linesAt(level: string): Promise<string> {
  const lines: string[] = [];
  const log = pino({ level }, { write: (line: string) => void lines.push(line) });
  const providerMessage = `Cannot work on: ${PROMPT}`;
  const sources = ['first', 'second'].map((name) => ({ name }));
  await callInOrder(
    sources,
    ({ name }) =>
      Promise.reject(
        new UpstreamProblem('failed', name, 'POST /images answered 400', { status: 400, providerMessage }),
      ),
    { subject: 'image/one', details: {}, signal: new AbortController().signal, log, redact: (text) => text },
  ).catch((error: unknown) => {
    log.warn({ err: error, shown: inspect(error) }, 'call failed');
  });
  return lines.join('');
}

t.test('what a provider answered, which may echo the prompt, is logged in debug lines only', async (t) => {
  const lines = await linesAt('info');
  t.match(lines, /POST \/images answered 400/);
  t.notMatch(lines, PROMPT);
  t.match(await linesAt('debug'), PROMPT);
});

t.test('no key that a provider quotes reaches a line of the log, whatever its status', async (t) => {
  const key = 'sandbox-replicate_api_token';
  const path = '/image/family-a-2-pro';
  const input = { prompt: PROMPT };
  const prediction = { id: `p-${key}`, status: 'failed', error: `bad token ${key}`, urls: {} };
  // One that a cut at any usual length would make two of.
  const long = { ...prediction, id: 'p', error: `${'x'.repeat(280)}${key}` };
  const elsewhere = { ...prediction, status: 'starting', urls: { get: `https://${key}.example/` } };
  const nowhere = { ...prediction, status: 'starting', urls: { get: key } };
  const answers: { status: number; json: object; deadlineMs?: number }[] = [
    { status: 200, json: prediction },
    { status: 201, json: long },
    { status: 200, json: elsewhere },
    { status: 200, json: nowhere },
    // Not done, so it is asked about until the deadline.
    { status: 200, json: { ...prediction, status: key }, deadlineMs: 1_000 },
    { status: 422, json: { detail: `no such version for ${key}` } },
    { status: 500, json: { detail: key } },
  ];
  for (const { deadlineMs, ...answer } of answers) {
    const lines: string[] = [];
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
    const { ask } = await openServed(t, {
      standIn: { upstream: 'predictions', answer: () => answer },
      log,
      ...(deadlineMs && { deadlineMs }),
    });
    await t.rejects(
      ask(path, input).catch((error: unknown) => {
        log.warn({ err: error, shown: inspect(error) }, 'call failed');
        throw error;
      }),
    );
    t.match(lines.join(''), /call failed/);
    t.notMatch(lines.join(''), key, JSON.stringify(answer));
    t.notMatch(lines.join(''), key.slice(0, 18), JSON.stringify(answer));
  }
});
