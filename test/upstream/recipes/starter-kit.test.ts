import t from 'tap';
import type { Result } from '../../../generated/endpoints/token/starter-kit.ts';
import { imageSize } from '../../../src/upstream/media/facts.ts';
import { problemOf } from '../providers/contract.ts';
import { openServed } from '../served-routes.ts';

const path = '/token/starter-kit';
const prompt = 'a token for lighthouse keepers';
const PNUT = '2qEHjDLDLbuBgRYvsxhc5D6uDWAivNFZGan56P1tpump';

t.test('invents a token and draws a square logo and a wide banner', async (t) => {
  const { ask, stored } = await openServed(t);
  const kit = await ask<Result>(path, { prompt });
  t.match(kit, { token_name: /\w/, token_ticker: /^[A-Z0-9]{2,10}$/, token_description: /\w/ });
  const logo = imageSize(await stored(kit.logo_url));
  t.equal(logo?.width, logo?.height);
  const banner = imageSize(await stored(kit.banner_url));
  t.ok(Number(banner?.width) / Number(banner?.height) > 2, JSON.stringify(banner));
});

t.test('writes the ticker in capitals, without a sign', async (t) => {
  const kit = {
    token_name: 'Lamp',
    token_ticker: '$lamp1',
    token_description: 'd',
    logo_prompt: 'l',
    banner_prompt: 'b',
  };
  const message = { role: 'assistant', content: JSON.stringify(kit) };
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const { ask } = await openServed(t, { standIn: { upstream: 'chat', answer: () => ({ status: 200, json: answer }) } });
  t.match(await ask(path, { prompt }), { token_name: 'Lamp', token_ticker: 'LAMP1' });
});

t.test('takes the style of a reference token from its logo', async (t) => {
  const bodies: string[] = [];
  const standIn = { upstream: 'predictions', answer: (_path: string, body: string) => void bodies.push(body) };
  const { ask, doubles } = await openServed(t, { standIn });
  t.match(await ask(path, { prompt, ca_reference: PNUT }), { logo_url: /^https/, banner_url: /^https/ });
  const drawn = bodies.filter((body) => body.includes('"prompt"'));
  t.equal(drawn.length, 2);
  for (const body of drawn) t.match(body, 'https://static.jup.ag/pnut/icon.png');
  t.equal(doubles.calls().chat, 2, 'one look at the logo, one kit');
});

t.test('fails when either image fails', async (t) => {
  const { ask, doubles } = await openServed(t);
  doubles.fault('predictions', '500', 1);
  t.match(await problemOf(ask(path, { prompt })), { failure: 'failed', upstream: 'predictions' });
});
