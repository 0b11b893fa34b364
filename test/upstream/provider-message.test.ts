import { inspect } from 'node:util';
import { pino } from 'pino';
import t from 'tap';
import { callInOrder } from '../../src/upstream/fallback.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';

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
    { subject: 'image/one', details: {}, signal: new AbortController().signal, log },
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
