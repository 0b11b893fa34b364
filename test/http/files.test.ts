import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express, { type ErrorRequestHandler } from 'express';
import t from 'tap';
import { sendFile } from '../../src/http/files.ts';

t.test(
  'a bought file that cannot be opened is an error with a reason, and nothing is kept of that answer',
  async (t) => {
    const path = join(t.testdir({}), 'picture.png');
    const reasons: string[] = [];
    const tell: ErrorRequestHandler = (error, _request, response, _next) => {
      reasons.push(error.code);
      response.status(500).end('failed');
    };
    const app = express();
    app.get('/picture', (request, response) => sendFile({ path, type: 'image/png', size: 5 }, request, response));
    app.use(tell);
    const server = app.listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/picture`;
    const failed = await fetch(url);
    t.equal(failed.status, 500);
    t.equal(await failed.text(), 'failed');
    t.equal(failed.headers.get('cache-control'), null);
    t.same(reasons, ['ENOENT']);
    writeFileSync(path, '12345');
    const sent = await fetch(url, { headers: { range: 'bytes=1-2' } });
    t.equal(sent.status, 206);
    t.equal(await sent.text(), '23');
    t.equal(await (await fetch(url)).text(), '12345');
    t.equal((await fetch(url, { headers: { 'if-none-match': sent.headers.get('etag') ?? '' } })).status, 304);
    t.equal((await fetch(url, { method: 'HEAD' })).headers.get('content-length'), '5');
  },
);
