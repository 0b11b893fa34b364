/** Alerts go to public addresses alone, and whoever answers cannot make the gateway wait, read or say more. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { openDelivery } from '../../src/alerts/deliver.ts';
import { alertProblems } from '../../src/alerts/secret.ts';
import { readConfig } from '../../src/gateway/config.ts';
import { openResolve } from '../../src/upstream/http/public-url.ts';
import { freePort } from '../free-port.ts';

const secret = `whsec_${Buffer.from('another secret of thirty-two byte').toString('base64')}`;

const told = (receiver: string) => ({ occurrence: 'spend.daily:2026-11-22', receiver, body: '{"type":"spend.daily"}' });

async function listen(t: Test, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

t.test('nothing is sent to an address inside, by whatever name, nor without https', async (t) => {
  let asked = 0;
  const port = await listen(t, (_request, response) => {
    asked += 1;
    response.end();
  });
  const looked: string[] = [];
  const delivery = await openDelivery({
    secret,
    allowsPrivate: false,
    resolve: async (name) => {
      looked.push(name);
      return [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ];
    },
  });
  t.teardown(delivery.close);
  const inside = 'must be on the public internet';
  t.equal(await delivery.deliver(told(`http://127.0.0.1:${port}/`)), 'must start with https://');
  t.equal(await delivery.deliver(told(`https://127.0.0.1:${port}/`)), inside);
  t.equal(await delivery.deliver(told(`https://[::1]:${port}/`)), inside);
  t.equal(await delivery.deliver(told('https://169.254.169.254/latest')), inside);
  t.equal(await delivery.deliver(told(`https://localhost:${port}/`)), inside);
  t.equal(await delivery.deliver(told(`https://ops.example:${port}/`)), inside, 'a name that leads inside as well');
  t.same(looked, ['ops.example']);
  t.equal(asked, 0);
});

t.test('where no name server answers, nobody is told that the receiver does not', async (t) => {
  const resolve = openResolve([`127.0.0.1:${await freePort()}`]);
  const delivery = await openDelivery({ secret, allowsPrivate: false, resolve });
  t.teardown(delivery.close);
  t.equal(
    await delivery.deliver(told('https://ops.example/')),
    'failed: its name could not be looked up (ECONNREFUSED)',
  );
});

t.test('an answer without an end is not read to it, and what fails is told without the address', async (t) => {
  let chunks = 0;
  const port = await listen(t, (request, response) => {
    if (request.url === '/no') return void response.writeHead(503).end('no');
    const more = () => {
      chunks += 1;
      if (!response.destroyed) response.write(Buffer.alloc(8_192), () => setImmediate(more));
    };
    more();
  });
  const delivery = await openDelivery({ secret, allowsPrivate: true });
  t.teardown(delivery.close);
  t.equal(await delivery.deliver(told(`http://127.0.0.1:${port}/endless`)), undefined);
  t.ok(chunks < 1_000);
  t.equal(await delivery.deliver(told(`http://127.0.0.1:${port}/no`)), 'answered 503');
  const fault = await delivery.deliver(told('http://127.0.0.1:1/token-in-a-path'));
  t.equal(fault, 'failed: ECONNREFUSED');
});

t.test('who is to be told without a secret, or inside, keeps the gateway from starting and says what to do', (t) => {
  const webhooks = { webhooks: [{ url: 'https://ops.example/a' }, { url: 'http://10.0.0.8/b' }] };
  const live = { secret: undefined, allowsPrivate: false };
  t.match(alertProblems(webhooks, live), [
    /^TURNPIKE_ALERT_SECRET is missing: .* make one with node -p "/,
    /must start with https:\/\/: TURNPIKE_ALERT_PRIVATE=1 takes those inside/,
  ]);
  t.same(alertProblems(webhooks, { secret, allowsPrivate: true }), []);
  t.same(alertProblems(undefined, live), []);
  t.same(readConfig({ TURNPIKE_ALERT_SECRET: secret }).alerts, { secret, allowsPrivate: true });
  t.throws(() => readConfig({ TURNPIKE_ALERT_SECRET: 'hunter2' }), {
    message: /TURNPIKE_ALERT_SECRET is not a secret/,
  });
  t.notMatch(alertProblems(webhooks, { secret, allowsPrivate: false }).join(), secret);
  const known = { webhooks: [{ url: 'https://me:hunter2@hooks.example/T0/token-in-a-path?key=hunter3' }] };
  const [said] = alertProblems(known, { secret, allowsPrivate: false });
  t.match(said, /hooks\.example/, 'the host alone: the rest may open it');
  t.notMatch(said, /hunter|token-in-a-path/);
  t.end();
});

t.test('a webhook with a password in its address is none, inside as outside: nobody would be sent it', (t) => {
  const webhooks = { webhooks: [{ url: 'https://operator:pass-word@ops.example/a' }] };
  for (const allowsPrivate of [false, true]) {
    const told = alertProblems(webhooks, { secret, allowsPrivate });
    t.match(told, [/^the webhook at ops\.example in service\.yaml must not carry a user name or password: /]);
    t.notMatch(told.join(), /pass-word|TURNPIKE_ALERT_PRIVATE/);
  }
  t.end();
});
