/** An HTTP API of nobody's, with what APIs have: a path, a query, a nested body, a file, XML, a job, keys and refusals. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { drawPicture } from '../../../src/sandbox/files/png.ts';

export const KEY = 'weather-key-7f3a';

const LARGE = Buffer.alloc(1_048_576);

export interface WeatherService {
  readonly url: string;
  /** Lets streams of `/v1/watch` go on to their end: how many. */
  goOn(): number;
  /** Ends them in the middle. */
  breakOff(): void;
  /** Every request that came, as it came. */
  readonly asked: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
}

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: unknown;
}

export async function startWeatherService(t: Test): Promise<WeatherService> {
  const asked: WeatherService['asked'] = [];
  const jobs = new Map<string, number>();
  const picture = await drawPicture({ seed: 'map', width: 64, height: 48, label: 'map', format: 'png' });

  function answer(line: string, query: URLSearchParams, body: string): Answer {
    const forecast = /^GET \/v1\/forecast\/([^/]+)$/.exec(line)?.[1];
    if (forecast === 'Atlantis') return { status: 404, body: { error: `no city for ${KEY}` } };
    if (forecast !== undefined) {
      const days = Array.from({ length: Number(query.get('days')) }, (_, day) => ({
        date: `2026-01-0${day + 1}`,
        max_c: day,
      }));
      const city = decodeURIComponent(forecast);
      return {
        body: { city, current: { temp_c: 20.5, wind: null }, forecast: { days }, usage: { cost_usd: '0.0021' } },
      };
    }
    const job = /^GET \/v1\/reports\/(\w+)$/.exec(line)?.[1];
    if (job !== undefined) {
      const looks = (jobs.get(job) ?? 0) + 1;
      jobs.set(job, looks);
      const report = { pages: 3, cover: `${url}/map.png` };
      return { body: looks < 3 ? { state: 'running' } : { state: 'done', report } };
    }
    switch (line) {
      case 'POST /v1/alerts':
        return { status: 201, body: { id: 'a-1', heard: JSON.parse(body) } };
      case 'POST /v1/reports':
        return { status: 202, body: { job: { id: 'r1' }, state: 'running' } };
      case 'POST /v1/map':
        // The closest has the most bytes.
        return { type: 'image/png', body: JSON.parse(body).zoom === 9 ? Buffer.concat([picture, LARGE]) : picture };
      case 'GET /map.png':
        return { type: 'image/png', body: picture };
      case 'GET /v1/station':
        return {
          type: 'text/xml; charset=utf-8',
          body: '<?xml version="1.0"?><station id="7"><name>Cais &amp; Co</name></station>',
        };
      case 'POST /v1/watch':
        return { body: '' };
      default:
        return { status: 404, body: { error: 'no such path' } };
    }
  }

  const waiting: ServerResponse[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://weather');
    const body = await text(request);
    asked.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    const isOpen = pathname === '/map.png';
    const {
      status = 200,
      type = 'application/json',
      body: content,
    } = isOpen || request.headers['x-api-key'] === KEY
      ? answer(`${request.method} ${pathname}`, searchParams, body)
      : { status: 401, body: { error: 'who are you?' } };
    if (pathname === '/v1/watch' && status === 200) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (body.includes('Long')) {
        for (let part = 0; part < 60; part += 1) response.write(`data: ${'w'.repeat(100_000)}\n\n`);
        response.end('data: [DONE]\n\n');
        return;
      }
      const isEndless = ['Endless', 'Silent'].some((name) => body.includes(name));
      if (isEndless) {
        const more = setInterval(
          () => response.write(body.includes('Silent') ? ': nothing\n\n' : 'data: {"wind": 3}\n\n'),
          100,
        );
        response.once('close', () => clearInterval(more));
        return;
      }
      if (body.includes('Mute')) {
        response.end(': nothing\n\n: nothing\n\n');
        return;
      }
      if (body.includes('Short')) {
        response.end('data: {"wind": 3}\n\ndata: [DONE]\n');
        return;
      }
      response.write(`data: {"wind": 3}\n\ndata: {"key": "${KEY.slice(0, 5)}`);
      waiting.push(response);
      return;
    }
    response.writeHead(status, { 'content-type': type });
    response.end(Buffer.isBuffer(content) || typeof content === 'string' ? content : JSON.stringify(content));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => server.close().closeAllConnections());
  const goOn = () => {
    const ended = waiting.splice(0);
    for (const response of ended) response.end(`${KEY.slice(5)}"}\n\ndata: [DONE]\n\n`);
    return ended.length;
  };
  const breakOff = () => {
    for (const response of waiting.splice(0)) response.destroy();
  };
  return { url, asked, goOn, breakOff };
}
