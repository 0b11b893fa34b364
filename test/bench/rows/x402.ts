/** The same call, sold by x402. */
import type { Bench } from '../bench.ts';
import { type Comparison, loadRow } from '../row.ts';
import { subject } from '../subject.ts';

const { path, body, badBody } = subject;

interface Goals {
  readonly express?: number;
  readonly x402Express?: number;
}

/** `otherwise`: what the peers do that the gateway does not. */
const besidePeers =
  ({ express, x402Express }: Goals, otherwise = '') =>
  async (bench: Bench): Promise<Comparison> => {
    const server = await bench.gateway();
    const peer = async (name: 'x402-express' | 'faremeter') => {
      const started = await bench.peer(name);
      return started && { server: started };
    };
    const bare = async (on: 'express' | 'node') => ({ server: await bench.bare(on, server.url) });
    return {
      ours: { server },
      beside: [
        {
          who: `@x402/express${otherwise}`,
          target: await peer('x402-express'),
          ...(x402Express !== undefined && { goal: { times: x402Express } }),
        },
        { who: `@faremeter/middleware${otherwise}`, target: await peer('faremeter') },
        {
          who: 'bare Express, free',
          target: await bare('express'),
          isNoGateway: true,
          ...(express !== undefined && { goal: { times: express } }),
        },
        { who: 'node:http, free', target: await bare('node'), isNoGateway: true },
      ],
    };
  };

export const challenge = loadRow(
  'challenge',
  { path, body, expects: 402 },
  besidePeers({ express: 0.8, x402Express: 2 }),
);

/** @faremeter/middleware settles without verifying: one request to the facilitator where the others make two. */
export const paid = loadRow('paid', { path, body, payment: 'x402', expects: 200 }, besidePeers({ x402Express: 3 }));

/** A payment that has been settled, shown again with the same request. */
export const replayed = loadRow(
  'replayed',
  { path, body, payment: 'x402', replays: true, expects: 200 },
  besidePeers({}, ', work done again'),
);

/** A payment shown with a request that cannot be answered. */
export const refused = loadRow(
  'refused',
  { path, offered: body, body: badBody, payment: 'x402', expects: 400 },
  besidePeers({}),
);
