/** The routes that only the sandbox has: its wallets, its faults and its counts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import express, { type Router } from 'express';
import { Problem, type ProblemDetail } from '../errors.ts';
import { unreadableBody } from '../request/unreadable-body.ts';
import type { SandboxWallet } from './wallet/signing.ts';

/** What a page loads to meet the sandbox's wallet: as it was built, beside the sources or what was built of them. */
const WALLET_SCRIPT = join(import.meta.dirname, '..', '..', 'generated', 'sandbox', 'main.js');

interface SandboxControl {
  /** What `GET /sandbox` answers: addresses and keys of funded wallets. */
  readonly state: object;
  /** Signs for pages that pay. */
  readonly wallet: SandboxWallet;
  upstreams(): readonly string[];
  readonly settlements: readonly string[];
  /** How an upstream can be made to fail. */
  upstreamFaults(upstream: string): readonly string[];
  readonly settlementFaults: readonly string[];
  faultUpstream(name: string, fault: string, count: number): void;
  faultSettlement(name: string, fault: string, count: number): void;
  /** What was asked for and has not come yet, whichever fault it is. */
  clearFaults(target: 'upstream' | 'settlement', name: string): void;
  calls(): { upstreams: Record<string, number>; settlements: Record<string, number> };
}

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

interface FaultRequest {
  readonly target: 'upstream' | 'settlement';
  readonly name: string;
  /** Undefined where faults are only cleared. */
  readonly fault: string | undefined;
  readonly count: number;
}

/** Throws Problem `invalid_request` that names every field at fault. */
function readFault(body: unknown, control: SandboxControl): FaultRequest {
  const { upstream, settlement, fault, count = 1 } = (body ?? {}) as Record<string, unknown>;
  const target = upstream === undefined ? 'settlement' : 'upstream';
  const [name, names, faults] =
    target === 'upstream'
      ? [upstream, control.upstreams(), control.upstreamFaults(String(upstream))]
      : [settlement, control.settlements, control.settlementFaults];
  const details: ProblemDetail[] = [];
  if ((upstream === undefined) === (settlement === undefined)) {
    details.push({
      path: '/',
      message: 'needs one of upstream and settlement',
      expected: '{"upstream": "<name>", "fault": "500", "count": 1}',
    });
  } else if (!names.includes(String(name))) {
    details.push({
      path: `/${target}`,
      message: `there is no ${target} ${name}`,
      expected: `one of ${names.join(', ')}`,
    });
  }
  const clears = count === 0 && fault === undefined;
  if (!clears && !faults.includes(String(fault))) {
    details.push({
      path: '/fault',
      message: `${fault} is not a fault of a ${target}`,
      expected: `one of ${faults.join(', ')}`,
    });
  }
  if (!Number.isInteger(count) || Number(count) < 0) {
    details.push({ path: '/count', message: 'must be a number of calls', expected: 'a whole number, 0 to clear' });
  }
  if (details.length > 0) throw new Problem('invalid_request', undefined, { details });
  return { target, name: String(name), fault: clears ? undefined : String(fault), count: Number(count) };
}

export function createSandboxRoutes(control: SandboxControl): Router {
  const router = express.Router();
  router.get('/', (_request, response) => {
    response.json(control.state);
  });
  router.get('/calls', (_request, response) => {
    const { upstreams, settlements } = control.calls();
    response.json({
      upstreamCalls: sum(upstreams),
      settlementCount: sum(settlements),
      upstreams,
      settlements,
    });
  });
  router.post('/faults', express.json(), (request, response) => {
    const { target, name, fault, count } = readFault(request.body, control);
    if (count === 0) control.clearFaults(target, name);
    else if (fault !== undefined && target === 'upstream') control.faultUpstream(name, fault, count);
    else if (fault !== undefined) control.faultSettlement(name, fault, count);
    response.json({ [target]: name, ...(fault !== undefined && { fault }), count });
  });
  router.get('/wallet.js', async (_request, response) => {
    const script = await readFile(WALLET_SCRIPT).catch(() => undefined);
    if (script === undefined)
      throw new Problem('unknown_path', "The wallet's script was not built: run npm run codegen");
    response.set('cache-control', 'no-cache').type('text/javascript; charset=utf-8').send(script);
  });
  router.post('/wallet', express.json(), async (request, response) => {
    response.set('cache-control', 'no-store').json(await control.wallet(request.body));
  });
  router.use(unreadableBody);
  return router;
}
