/** Bare Express with one constant 402, as fast as Express sends one: what no gateway on Express can beat. */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { subject } from '../subject.ts';

/** The file holds the answer to send. */
const { headers, body } = JSON.parse(readFileSync(process.env.BENCH_ANSWER ?? '', 'utf8')) as {
  headers: Record<string, string>;
  body: string;
};
const bytes = Buffer.from(body);

const application = express();
application.disable('x-powered-by');
application.post(subject.path, (_request, response) => {
  response.statusCode = 402;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('content-length', bytes.length);
  response.end(bytes);
});
const server = application.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
