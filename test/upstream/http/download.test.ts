import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { type DownloadOptions, openDownloader } from '../../../src/upstream/http/download.ts';
import { urlRefusal } from '../../../src/upstream/http/public-url.ts';
import { problemOf } from '../providers/contract.ts';
import { serve as serveCounted } from './weather.ts';

const serve = async (t: Test, handler: RequestListener): Promise<string> => (await serveCounted(t, handler)).origin;

const options = (more: Partial<DownloadOptions> = {}): DownloadOptions => ({
  upstream: 'test',
  givenBy: 'provider',
  signal: new AbortController().signal,
  maxBytes: 1000,
  ...more,
});

function open(t: Test, trustedOrigins: string[] = [], addresses: string[] = []) {
  const resolved: string[] = [];
  const downloader = openDownloader({
    trustedOrigins,
    resolve: async (hostname) => {
      resolved.push(hostname);
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
  });
  t.teardown(() => downloader.close());
  return { downloader, resolved };
}

t.test('reads a file from a trusted origin', async (t) => {
  const origin = await serve(t, (_request, response) => response.end('bytes'));
  const { downloader } = open(t, [origin]);
  t.equal((await downloader.download(`${origin}/a.png?x=1`, options())).toString(), 'bytes');
});

const refusedUrls = [
  ...['http://example.com/a.png', 'ftp://example.com/a', 'file:///etc/passwd', 'data:text/plain,hello', 'not a url'],
  ...[
    'https://127.0.0.1/',
    'https://localhost/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
  ],
  ...[
    'https://2130706433/',
    'https://0x7f000001/',
    'https://127.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://metadata.google.internal/',
  ],
  ...[
    'https://user:word@example.com/',
    'https://user@example.com/',
    'https://:word@example.com/',
    'https://printer.local/',
  ],
];
for (const url of refusedUrls) {
  t.test(`refuses ${url} without asking anybody`, async (t) => {
    const { downloader, resolved } = open(t);
    t.ok(urlRefusal(url));
    const problem = await problemOf(downloader.download(url, options({ givenBy: 'caller' })));
    t.match(problem, { failure: 'invalid-input', publicMessage: /^The file's address / });
    t.match(await problemOf(downloader.download(url, options())), { failure: 'malformed', publicMessage: undefined });
    t.same(resolved, []);
  });
}

for (const addresses of [['127.0.0.1'], ['169.254.169.254'], ['93.184.215.14', '10.0.0.5'], ['::1'], []]) {
  t.test(`refuses a public name that leads to ${addresses.join(' and ') || 'nowhere'}`, async (t) => {
    const { downloader, resolved } = open(t, [], addresses);
    const problem = await problemOf(
      downloader.download('https://innocent.example.com/a.png', options({ givenBy: 'caller' })),
    );
    t.match(problem, { failure: 'invalid-input', publicMessage: /public internet/ });
    t.same(resolved, ['innocent.example.com'], 'looked at where the connection is made');
  });
}

t.test('follows redirects, and looks at each anew', async (t) => {
  const origin = await serve(t, (request, response) => {
    const step = Number(request.url?.slice(1));
    if (step === 0) response.end('there');
    else response.writeHead(302, { location: `/${step - 1}` }).end();
  });
  const hop = await serve(t, (request, response) => {
    const location =
      request.url === '/http'
        ? `${origin}/0`
        : request.url === '/metadata'
          ? 'https://169.254.169.254/'
          : 'https://inner.example.com/';
    response.writeHead(302, { location }).end();
  });
  const { downloader } = open(t, [origin], ['192.168.0.1']);
  t.equal((await downloader.download(`${origin}/3`, options())).toString(), 'there');
  t.match(await problemOf(downloader.download(`${origin}/4`, options())), { message: /redirects more than 3 times/ });
  const trusting = openDownloader({
    trustedOrigins: [hop],
    resolve: async () => [{ address: '192.168.0.1', family: 4 }],
  });
  t.teardown(() => trusting.close());
  for (const path of ['/http', '/metadata', '/inner']) {
    t.match(await problemOf(trusting.download(hop + path, options())), { failure: 'malformed' }, path);
  }
});

t.test('trusts no provider’s address but its own, whatever leads there', async (t) => {
  const inner = await serveCounted(t, (_request, response) => response.end('secret'));
  const own = await serveCounted(t, (request, response) => {
    if (request.url === '/elsewhere') response.writeHead(302, { location: `${inner.origin}/secret.png` }).end();
    else if (request.url === '/within') response.writeHead(302, { location: '/a.png' }).end();
    else response.end('own');
  });
  const strangers = await serve(t, (request, response) => {
    const origin = request.url === '/own' ? own.origin : inner.origin;
    response.writeHead(302, { location: `${origin}/secret.png` }).end();
  });
  const downloader = openDownloader({
    trustedOrigins: [],
    originOf: (upstream) => ({ test: own.origin, inner: inner.origin })[upstream],
    readFrom: ({ pathname }) => new URL(pathname, strangers),
  });
  t.teardown(() => downloader.close());
  for (const path of ['/a.png', '/within']) {
    t.equal((await downloader.download(own.origin + path, options())).toString(), 'own');
  }
  const asked = own.calls();
  const leadingInside = [
    'https://pictures.example.com/inner',
    'https://pictures.example.com/own',
    `${inner.origin}/a.png`,
  ];
  for (const url of leadingInside) {
    t.match(await problemOf(downloader.download(url, options())), { failure: 'malformed' }, url);
  }
  t.equal(own.calls(), asked);
  t.match(await problemOf(downloader.download(`${own.origin}/elsewhere`, options())), { failure: 'malformed' });
  t.match(await problemOf(downloader.download(own.origin, options({ upstream: 'other' }))), { failure: 'malformed' });
  t.equal(inner.calls(), 0);
});

t.test('reads elsewhere what the guard let through, and looks at redirects from there as ever', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url === '/files.example.com/there') response.writeHead(302, { location: '/here' }).end();
    else if (request.url === '/files.example.com/inward')
      response.writeHead(302, { location: 'https://10.0.0.1/' }).end();
    else response.end(request.url);
  });
  const asked: string[] = [];
  const downloader = openDownloader({
    trustedOrigins: [],
    readFrom(url) {
      asked.push(url.href);
      return new URL(`/${url.host}${url.pathname}${url.search}`, origin);
    },
  });
  t.teardown(() => downloader.close());
  const read = (url: string) => downloader.download(url, options({ givenBy: 'caller' }));
  t.equal((await read('https://files.example.com/a.png?x=1')).toString(), '/files.example.com/a.png?x=1');
  t.equal((await read('https://files.example.com/there')).toString(), '/files.example.com/here');
  asked.length = 0;
  for (const url of ['http://files.example.com/a', 'https://127.0.0.1/a', 'https://localhost/a']) {
    t.match(await problemOf(read(url)), { failure: 'invalid-input' }, url);
  }
  t.same(asked, [], 'the guard comes first');
  t.match(await problemOf(read('https://files.example.com/inward')), { failure: 'invalid-input' });
});

t.test('stops at the size and at the time limit', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url === '/large') response.end('x'.repeat(2000));
    else response.write('a'); // and never ends
  });
  const { downloader } = open(t, [origin]);
  t.match(await problemOf(downloader.download(`${origin}/large`, options())), { message: /more than 1000 bytes/ });
  t.match(await problemOf(downloader.download(`${origin}/slow`, options({ timeoutMs: 100 }))), { failure: 'failed' });
  const signal = AbortSignal.timeout(50);
  t.match(await problemOf(downloader.download(`${origin}/slow`, options({ signal }))), { failure: 'timeout' });
});

t.test('blames a provider for the address that it handed out', async (t) => {
  const origin = await serve(t, (_request, response) => response.writeHead(403).end());
  const { downloader } = open(t, [origin]);
  const failed = { failure: 'failed', message: /answers 403/, publicMessage: undefined };
  t.match(await problemOf(downloader.download(origin, options())), failed);
  t.match(await problemOf(downloader.download('https://127.0.0.1/', options())), { failure: 'malformed' });
});

t.test('trusts no origin that a caller names', async (t) => {
  const origin = await serve(t, (_request, response) => response.end('internal'));
  const { downloader } = open(t, [origin]);
  t.match(await problemOf(downloader.download(origin, options({ givenBy: 'caller' }))), { failure: 'invalid-input' });
});

t.test('reads four files at a time for one caller, and those of others beside them', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url === '/short.mp3') response.end('sound');
    else response.write('a'); // and never ends
  });
  const downloader = openDownloader({ trustedOrigins: [], readFrom: (url) => new URL(url.pathname, origin) });
  t.teardown(() => downloader.close());
  const read = (caller: string, path: string, more: Partial<DownloadOptions> = {}) =>
    downloader.download(`https://example.com${path}`, options({ givenBy: 'caller', caller, ...more }));
  const ended = new AbortController();
  const slow = Array.from({ length: 4 }, () => problemOf(read('greedy', '/slow.mp3', { signal: ended.signal })));
  t.match(await problemOf(read('greedy', '/short.mp3')), { failure: 'throttled', publicMessage: /At most 4 files/ });
  t.equal((await read('honest', '/short.mp3')).toString(), 'sound');
  ended.abort();
  await Promise.all(slow);
  t.equal((await read('greedy', '/short.mp3')).toString(), 'sound');
});

t.test('reads as many files of a provider at a time as it hands out', async (t) => {
  const files = 20;
  const waiting: ServerResponse[] = [];
  const origin = await serve(t, (_request, response) => {
    waiting.push(response);
    if (waiting.length === files) for (const held of waiting) held.end('picture');
  });
  const { downloader } = open(t, [origin]);
  const read = await Promise.all(Array.from({ length: files }, () => downloader.download(origin, options())));
  t.same(read.map(String), Array(files).fill('picture'));
});

t.test('reads so many bytes in a minute for one caller', async (t) => {
  const file = Buffer.alloc(32 * 1024 * 1024);
  const origin = await serve(t, (_request, response) => response.end(file));
  const downloader = openDownloader({ trustedOrigins: [], readFrom: () => new URL(origin) });
  t.teardown(() => downloader.close());
  const read = (caller: string) =>
    downloader.download('https://example.com/a', options({ givenBy: 'caller', caller, maxBytes: file.length }));
  for (let time = 0; time < 4; time += 1) t.equal((await read('greedy')).length, file.length);
  t.match(await problemOf(read('greedy')), { failure: 'throttled', publicMessage: /bytes of files in a minute/ });
  t.equal((await read('honest')).length, file.length);
});

t.test('tells a caller nothing of what answered at its address', async (t) => {
  const origin = await serve(t, (_request, response) => response.writeHead(403).end('internal dashboard'));
  const downloader = openDownloader({ trustedOrigins: [], readFrom: () => new URL(origin) });
  t.teardown(() => downloader.close());
  const problem = await problemOf(downloader.download('https://example.com/a.mp3', options({ givenBy: 'caller' })));
  t.match(problem, { failure: 'invalid-input', publicMessage: "The file's address cannot be read" });
});

t.test('follows what leads elsewhere, and nothing else', async (t) => {
  const origin = await serve(t, (request, response) => {
    const [status = '', location] = (request.url ?? '').slice(1).split(',');
    if (location !== undefined) response.setHeader('location', location);
    if (status === '') response.end('there');
    else response.writeHead(Number(status)).end('here');
  });
  const { downloader } = open(t, [origin]);
  const read = async (path: string) => `${await downloader.download(`${origin}/${path}`, options())}`;
  for (const status of [300, 301, 302, 303, 307, 308, 399]) t.equal(await read(`${status},/`), 'there', `${status}`);
  t.equal(await read('200,/'), 'here');
  for (const status of ['302', '304', '201,/', '299,/', '400,/', '204']) {
    t.match(await problemOf(read(status)), {
      failure: 'failed',
      message: `file at ${new URL(origin).host}: answers ${status.slice(0, 3)}`,
    });
  }
  t.match(await problemOf(read('302,https://[')), { failure: 'malformed', message: /: is not a URL$/ });
});

t.test('keeps no connection for what is read no further: refusals and what leads elsewhere', async (t) => {
  for (const path of ['/missing', '/moved']) {
    const body = Buffer.alloc(100_000);
    const { origin, server } = await serveCounted(t, (request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/' }).end(body);
      else response.writeHead(request.url === '/' ? 200 : 404).end(body);
    });
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const { downloader } = open(t, [origin]);
    for (let file = 0; file < 8; file += 1) {
      await downloader.download(origin + path, options({ maxBytes: body.length })).catch(() => undefined);
    }
    t.ok(connections < 8, `${connections} connections for 8 files, one after the other`);
  }
});

t.test('reads a trusted origin where it is, whatever its name leads to and others are read from', async (t) => {
  const origin = (await serve(t, (_request, response) => response.end('own'))).replace('127.0.0.1', 'localhost');
  const downloader = openDownloader({
    trustedOrigins: [`${origin}/v1`],
    resolve: async () => [{ address: '10.0.0.1', family: 4 }],
    readFrom: () => new URL('http://127.0.0.1:9'),
  });
  t.teardown(() => downloader.close());
  t.equal((await downloader.download(`${origin}/a.png`, options())).toString(), 'own');
});

t.test('reads elsewhere by whatever name that place has', async (t) => {
  const origin = (await serve(t, (_request, response) => response.end('double'))).replace('127.0.0.1', 'localhost');
  const downloader = openDownloader({
    trustedOrigins: [],
    resolve: async () => [{ address: '10.0.0.1', family: 4 }],
    readFrom: () => new URL(origin),
  });
  t.teardown(() => downloader.close());
  t.equal((await downloader.download('https://example.com/a', options())).toString(), 'double');
});

t.test('tells a caller why, where that says nothing of what lies behind', async (t) => {
  const origin = await serve(t, (request, response) => {
    if (request.url === '/slow')
      response.write('a'); // and never ends
    else response.end('x'.repeat(1001));
  });
  const downloader = openDownloader({ trustedOrigins: [], readFrom: ({ pathname }) => new URL(pathname, origin) });
  t.teardown(() => downloader.close());
  const read = (path: string, more: Partial<DownloadOptions> = {}) =>
    problemOf(downloader.download(`https://example.com/${path}`, options({ givenBy: 'caller', ...more })));
  t.match(await read('long'), {
    failure: 'invalid-input',
    upstream: 'test',
    message: 'file at example.com: leads to a file of more than 1000 bytes',
    publicMessage: "The file's address leads to a file of more than 1000 bytes",
  });
  t.match(await read('slow', { timeoutMs: 50 }), {
    failure: 'invalid-input',
    publicMessage: "The file's address took too long",
  });
  for (const reason of ['gone', undefined]) {
    const leaving = new AbortController();
    const reading = read('slow', { signal: leaving.signal });
    setImmediate(() => leaving.abort(reason));
    t.match(await reading, {
      failure: 'timeout',
      message: `file at example.com: ${reason === undefined ? 'This operation was aborted' : 'cannot be read'}`,
      publicMessage: undefined,
    });
  }
  t.match(await problemOf(downloader.download('nowhere', options({ givenBy: 'caller' }))), {
    message: 'file at an address that cannot be read: is not a URL',
    publicMessage: "The file's address is not a URL",
  });
});

t.test('gives back what a caller had of turns and files, however its files ended', async (t) => {
  const origin = await serve(t, (request, response) => {
    response.writeHead(request.url === '/missing' ? 404 : 200).end('bytes');
  });
  const downloader = openDownloader({ trustedOrigins: [], readFrom: ({ pathname }) => new URL(pathname, origin) });
  t.teardown(() => downloader.close());
  const read = (path: string) =>
    downloader.download(`https://example.com/${path}`, options({ givenBy: 'caller', caller: 'payer' }));
  for (let file = 0; file < 10; file += 1) {
    t.match(await problemOf(read('missing')), { failure: 'invalid-input' });
    t.equal((await read('there')).toString(), 'bytes');
  }
});

t.test('breaks off what is read when it is closed', async (t) => {
  const { origin, server } = await serveCounted(t, (_request, response) => response.write('a')); // and never ends
  const downloader = openDownloader({ trustedOrigins: [origin] });
  const reading = problemOf(downloader.download(origin, options()));
  await once(server, 'request');
  await downloader.close();
  t.match(await reading, { failure: 'failed' });
});
