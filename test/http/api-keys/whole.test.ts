/** How large an answer in one piece may grow, which the gateway keeps until it is at its end. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { openFunded } from './funded.ts';

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

/** Before a provider that `write`s its answers as a stream. */
const openBefore = (t: Test, write: (response: ServerResponse) => Promise<void>) =>
  openFunded(t, (response) => write(response.writeHead(200, { 'content-type': 'text/event-stream' })));

async function answerShortly(response: ServerResponse): Promise<void> {
  const choices = [{ index: 0, delta: { content: 'Fog.' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  response.end(`${event({ choices })}${event({ choices: [], usage })}data: [DONE]\n\n`);
}

t.test('more probabilities than one answer can have are refused before anything is paid, and streamed', async (t) => {
  const { ask, charged, timesAsked } = await openBefore(t, answerShortly);
  for (const [more, param] of [
    [{ n: 16, max_tokens: 1000, logprobs: true, top_logprobs: 20 }, 'top_logprobs'],
    [{ n: 16, max_tokens: 1000, top_logprobs: 20 }, 'top_logprobs'],
    [{ max_tokens: 2381, logprobs: true, top_logprobs: 20 }, 'top_logprobs'],
    [{ n: 7, max_tokens: 8000, logprobs: true }, 'logprobs'],
  ] as const) {
    const answer = await ask(more);
    t.match(
      [answer.status, await answer.json()],
      [400, { error: { code: 'invalid_value', param, message: /50000 is the most: ask for a stream, or for fewer/ } }],
    );
  }
  t.equal(timesAsked(), 0);
  t.equal(await charged(), 0n);
  for (const more of [
    { n: 16, max_tokens: 1000, logprobs: true, top_logprobs: 20, stream: true },
    { max_tokens: 2380, logprobs: true, top_logprobs: 20 },
    { n: 16, max_tokens: 8000, logprobs: false },
  ]) {
    const answer = await ask(more);
    t.equal(answer.status, 200);
    await answer.text();
  }
});

t.test('an answer that outgrows what is kept is cut, charged, and asked of nobody else', async (t) => {
  const piece = event({ choices: [{ index: 0, delta: { content: 'x'.repeat(1_000_000) }, finish_reason: null }] });
  let left: Promise<unknown> | undefined;
  const { ask, charged, timesAsked } = await openBefore(t, async (response) => {
    left = once(response, 'close');
    while (!response.destroyed) {
      if (!response.write(piece)) await Promise.race([once(response, 'drain'), left]);
    }
  });
  const answer = await ask({ max_tokens: 1000 });
  t.equal(answer.status, 200);
  const { choices } = (await answer.json()) as {
    choices: { message: { content: string }; finish_reason: string }[];
  };
  t.equal(choices[0]?.message.content.length, 32_000_000);
  t.equal(choices[0]?.finish_reason, 'length');
  await left;
  t.equal(timesAsked(), 1);
  t.equal(await charged(), 8_820n, 'the most that it may cost: 1000 tokens at 8.80 dollars a million, and 9 at 2.20');
});
