/** Providers that hand out a token for the operator's keys, and take that with each call. */
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { json, serve } from '../../upstream/http/weather.ts';
import { musicFiles } from './music-catalogue.ts';

const KEYS = { MUSIC_ID: 'shop-4711', MUSIC_SECRET: 'very-secret-9d2c' };

async function open(t: Test, environment = KEYS) {
  const forms: string[] = [];
  const calls: string[] = [];
  let given = 0;
  let valid = '';
  let isDown = false;
  const { origin } = await serve(t, async (asked, response) => {
    const body = await text(asked);
    const { authorization = '' } = asked.headers;
    if (asked.url === '/v1/token') {
      forms.push(body);
      if (isDown) return json(response, 503, { error: 'down' });
      const isKnown = authorization === `Basic ${Buffer.from('shop-4711:very-secret-9d2c').toString('base64')}`;
      if (!isKnown) return json(response, 401, { error: 'invalid_client', heard: authorization });
      given += 1;
      valid = `token-${given}-of-music`;
      return json(response, 200, { access_token: valid, token_type: 'Bearer', expires_in: 3600 });
    }
    if (authorization !== `Bearer ${valid}`) return json(response, 401, { error: `no song for ${authorization}` });
    calls.push(body);
    json(response, 200, { id: body.includes('Echo') ? `you are ${authorization}` : 's-1' });
  });
  const authorize = '{ oauth: /token, client: "{id}:{secret}", fields: { scope: read } }';
  const catalogue = join(t.testdir({ catalogue: musicFiles(origin, authorize) }), 'catalogue');
  const gateway = await startGateway({ catalogue, environment, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const buy = async (name: string) => {
    const answer = await payV2(gateway, 'chain-c', request(gateway, '/music/song', { name }));
    return { status: answer.status, text: await answer.text() };
  };
  return {
    gateway,
    forms,
    calls,
    buy,
    /** What was handed out is taken no more. */
    revoke: () => {
      valid = 'none';
    },
    turnOff: (off: boolean) => {
      isDown = off;
    },
  };
}

t.test('one token serves all calls that come at once, and those after them', async (t) => {
  const { gateway, forms, calls, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  const sold = await Promise.all(['one', 'two', 'three'].map(buy));
  t.same(
    sold.map(({ status }) => status),
    [200, 200, 200],
  );
  t.equal((await buy('four')).status, 200);
  t.same(forms, ['grant_type=client_credentials&scope=read']);
  t.equal(calls.length, 4);
  t.equal((await gateway.earned('chain-c')) - before, 40_000n);
});

t.test('a token that is refused is renewed within the call, which is made and paid for once', async (t) => {
  const { gateway, forms, calls, buy, revoke } = await open(t);
  await buy('one');
  revoke();
  const before = await gateway.earned('chain-c');
  t.equal((await buy('two')).status, 200);
  t.equal(forms.length, 2);
  t.equal(calls.length, 2);
  t.equal((await gateway.earned('chain-c')) - before, 10_000n);
});

t.test('without a token nothing is charged, and nobody reads a key or a token', async (t) => {
  const { gateway, forms, buy, turnOff } = await open(t);
  const before = await gateway.earned('chain-c');
  turnOff(true);
  const down = await buy('one');
  t.equal(down.status, 500, down.text);
  t.equal(await gateway.earned('chain-c'), before);
  turnOff(false);
  t.equal((await buy('one')).status, 200, 'and it goes on by itself');
  t.equal(forms.length, 2);
  t.match(await buy('Echo'), { status: 200, text: '{"id":"you are Bearer [secret]"}' });

  const wrong = await open(t, { ...KEYS, MUSIC_SECRET: 'another-secret-77' });
  const refused = await wrong.buy('one');
  t.equal(refused.status, 500, refused.text);
  t.notMatch(refused.text, /another-secret|shop-4711|Basic/);
  t.equal(wrong.forms.length, 1, 'one that was refused just now is not asked for again by the same call');
  t.same(wrong.calls, []);
});
