/** What the page asks for and does, below `/console/api`. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response, type Router } from 'express';
import { COLUMNS, movementsIn } from '../books/movements.ts';
import { FORMATS, textOf } from '../books/text.ts';
import { catalogue, reload } from './catalogue.ts';
import { signedInOnly, signIn, signOut } from './door.ts';
import { form, oneOf, requiredText, time } from './input.ts';
import { changeKey, keys, newKey } from './keys.ts';
import { networks } from './networks.ts';
import { overview } from './overview.ts';
import type { ConsoleParts } from './parts.ts';
import { payment, payments, refund } from './payments.ts';
import { ConsoleProblem, wrongField } from './problem.ts';
import type { Sessions } from './session.ts';
import { upstreams } from './upstreams.ts';

const MOST_BYTES = 16 * 1_024;

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/x-ndjson; charset=utf-8' } as const;

/** The books of a period, written while they are read. */
async function exportBooks({ store, mode, ...parts }: ConsoleParts, request: Request, response: Response) {
  const { query } = request;
  const format = oneOf(query, 'format', FORMATS) ?? 'csv';
  const [from, to] = [time(query, 'from'), time(query, 'to')];
  if (from === undefined) throw wrongField('from', 'is missing: give milliseconds since the epoch');
  if (to === undefined) throw wrongField('to', 'is missing: give milliseconds since the epoch');
  if (from >= to) throw wrongField('to', 'comes after from');
  const movements = movementsIn(store, { from, to }, [...parts.catalogue().networks.values()], mode);
  const name = `turnpike-${new Date(from).toISOString().slice(0, 10)}.${format}`;
  response.writeHead(200, {
    'content-type': TYPES[format],
    'content-disposition': `attachment; filename="${name}"`,
  });
  // Whoever left, or lacks the rest of it, sees an answer that is cut.
  await pipeline(Readable.from(textOf(COLUMNS, movements, format)), response).catch(() => response.destroy());
}

export function consoleApi(parts: ConsoleParts, sessions: Sessions): Router {
  const router = express.Router();
  router.use(express.json({ limit: MOST_BYTES }));
  router.post('/session', (request, response) => {
    const token = requiredText(
      form<{ token: string }>(request.body, ['token']),
      'token',
      'the one that was printed when the gateway started',
    );
    signIn(sessions, token, request, response);
    response.json({});
  });
  router.delete('/session', (request, response) => {
    signOut(request, response);
    response.json({});
  });
  router.use(signedInOnly(sessions));

  const answer =
    (work: (request: Request) => Promise<unknown>) =>
    async (request: Request, response: Response): Promise<void> => {
      response.json(await work(request));
    };
  const idIn = ({ params }: Request) => String(params.id);
  router.get(
    '/overview',
    answer(({ query }) => overview(parts, query)),
  );
  router.get(
    '/payments',
    answer(({ query }) => payments(parts, query)),
  );
  router.get(
    '/payments/:id',
    answer((request) => payment(parts, idIn(request))),
  );
  router.post(
    '/payments/:id/refund',
    answer((request) => refund(parts, idIn(request), request.body)),
  );
  router.get(
    '/upstreams',
    answer(({ query }) => upstreams(parts, query)),
  );
  router.get(
    '/networks',
    answer(() => networks(parts)),
  );
  router.get(
    '/keys',
    answer(() => keys(parts)),
  );
  router.post(
    '/keys',
    answer(({ body }) => newKey(parts, body)),
  );
  router.post(
    '/keys/:id',
    answer((request) => changeKey(parts, idIn(request), request.body)),
  );
  router.get(
    '/catalogue',
    answer(() => catalogue(parts)),
  );
  router.post(
    '/catalogue/reload',
    answer(({ body }) => reload(parts, body)),
  );
  router.get('/export', (request, response) => exportBooks(parts, request, response));
  router.use(() => {
    throw new ConsoleProblem(404, 'the console has nothing of that name');
  });
  return router;
}
