/** The same call, sold by x402. */
import type { Bare, Bench } from '../bench.ts';
import { type Comparison, loadRow } from '../row.ts';
import { subject } from '../subject.ts';

const { path, body, badBody } = subject;

/** What every gateway has to do that verifies and settles, in Node, and nothing besides. */
const LEAST = 'node:http, verifies and settles, keeps nothing';

/** `times` as many calls a second as each peer; `otherwise`: what the peers do that the gateway does not. */
const besidePeers =
  ({ times, otherwise = '', isSettled = false }: { times?: number; otherwise?: string; isSettled?: boolean } = {}) =>
  async (bench: Bench): Promise<Comparison> => {
    const server = await bench.gateway();
    const peer = async (name: 'x402-express' | 'faremeter') => {
      const started = await bench.peer(name);
      return started && { server: started };
    };
    const goal = times === undefined ? {} : { goal: { times } };
    const bare = async (on: Bare) => ({ server: await bench.bare(on, server.url) });
    return {
      ours: { server },
      beside: [
        { who: `@x402/express${otherwise}`, target: await peer('x402-express'), ...goal },
        { who: `@faremeter/middleware${otherwise}`, target: await peer('faremeter'), ...goal },
        { who: 'bare Express, free', target: await bare('express'), isNoGateway: true },
        { who: 'node:http, free', target: await bare('node'), isNoGateway: true },
        ...(isSettled ? [{ who: LEAST, target: await bare('settling'), isNoGateway: true as const }] : []),
      ],
    };
  };

export const challenge = loadRow('challenge', { path, body, expects: 402 }, besidePeers({ times: 2.5 }));

/** @faremeter/middleware settles without verifying: one request to the facilitator where the others make two. */
export const paid = loadRow(
  'paid',
  { path, body, payment: 'x402', expects: 200 },
  besidePeers({ times: 3, isSettled: true }),
);

/** The same, of payers who are nobody's customers yet: the gateway looks each up on its chain first. */
export const paidByStrangers = loadRow(
  'paid-strangers',
  { path, body, payment: 'x402', strangers: true, expects: 200 },
  besidePeers(),
);

/** A payment that has been settled, shown again with the same request. */
export const replayed = loadRow(
  'replayed',
  { path, body, payment: 'x402', replays: true, expects: 200 },
  besidePeers({ otherwise: ', work done again' }),
);

/** A payment shown with a request that cannot be answered. */
export const refused = loadRow(
  'refused',
  { path, offered: body, body: badBody, payment: 'x402', expects: 400 },
  besidePeers(),
);
