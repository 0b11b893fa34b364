/** All probes at once against one gateway, until the time is over; then what they left behind. */
import { asJsonObject } from '../../src/json.ts';
import { payV2, request } from '../clients.ts';
import { openCatalogue } from '../upstream/served-routes.ts';
import { apiKeysProbe } from './api-keys.ts';
import { bodiesProbe } from './bodies.ts';
import { JSON_TYPE, jsonBody } from './call.ts';
import { type MeasuredGateway, type Size, startMeasuredGateway } from './measured-gateway.ts';
import { pathsProbe } from './paths.ts';
import { paymentsProbe, purchasesProbe } from './payments.ts';
import type { Found, Probe } from './probe.ts';
import { ProofShelf } from './proofs.ts';
import { socketsProbe } from './sockets.ts';
import { toolsProbe } from './tools.ts';
import { openWatched } from './watched.ts';

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Of one probe only. */
  readonly only?: string | undefined;
  report(found: Found): void;
}

export interface FuzzReport {
  /** Probe -> inputs. */
  readonly inputs: ReadonlyMap<string, number>;
  readonly statuses: ReadonlyMap<number, number>;
  readonly sizes: { readonly start: Size; readonly middle: Size; readonly end: Size };
  /** What is left behind and should not be. */
  readonly leftovers: readonly string[];
}

/** Over the second half: leaks go on. */
const MOST_HEAP_MEGABYTES = 24;
/** In less, caches are still filling at half time: everything is seen for the first time. */
const HEAP_SETTLES_SECONDS = 300;
const MOST_DESCRIPTORS = 20;
/** Longer than connections take that were left in the middle. */
const CALM_MS = 1_500;
/** What takes longer to end than that is waited for so long. */
const PATIENCE_MS = 60_000;

async function pictureOf(gateway: MeasuredGateway): Promise<string> {
  const answer = await payV2(
    gateway,
    'chain-c',
    request(gateway, '/image/family-a-2-pro', { prompt: 'a lighthouse in fog' }),
  );
  const { image_url } = (await answer.json()) as { image_url: string };
  return new URL(image_url).pathname;
}

function leftoversIn(
  gateway: MeasuredGateway,
  { start, middle, end }: FuzzReport['sizes'],
  seconds: number,
  payments: number,
): string[] {
  const grown = [
    [
      seconds >= HEAP_SETTLES_SECONDS && end.heapMegabytes - middle.heapMegabytes > MOST_HEAP_MEGABYTES,
      `the heap grew from ${middle.heapMegabytes.toFixed(0)} to ${end.heapMegabytes.toFixed(0)} MB`,
    ],
    [
      end.descriptors - start.descriptors > MOST_DESCRIPTORS,
      `open files grew from ${start.descriptors} to ${end.descriptors}`,
    ],
    [
      gateway.count('SELECT count(*) FROM payments') > payments,
      `${gateway.count('SELECT count(*) FROM payments')} payments are kept, and ${payments} were signed`,
    ],
    [gateway.count('SELECT count(*) FROM holds') > 0, 'credits are still held'],
    [
      gateway.count("SELECT count(*) FROM payments WHERE state NOT IN ('settled', 'released', 'failed')") > 0,
      'payments are still open',
    ],
  ] as const;
  return grown.flatMap(([isLeft, what]) => (isLeft ? [what] : []));
}

/** A minute of it on an idle machine is some ten thousand requests. */
export async function fuzz({ seconds, seed, only, report }: FuzzOptions): Promise<FuzzReport> {
  const gateway = await startMeasuredGateway();
  try {
    const { routes } = openCatalogue();
    const watched = openWatched(gateway);
    gateway.gone.catch(({ message }: Error) => {
      report({ probe: only ?? 'all', seed, what: message, reproduction: watched.recent().join('\n') });
    });
    const shelf = new ProofShelf();
    const picture = await pictureOf(gateway);
    const apiKey = String(asJsonObject(await (await fetch(`${gateway.url}/sandbox`)).json()).apiKey);
    const all: Probe[] = [
      bodiesProbe(watched, routes),
      paymentsProbe(watched, shelf),
      purchasesProbe(watched, routes, seed),
      apiKeysProbe(watched, apiKey),
      pathsProbe(watched, routes, picture),
      socketsProbe(watched),
      toolsProbe(watched, routes),
    ];
    const probes = all.filter(({ name }) => only === undefined || name === only);
    if (probes.length === 0)
      throw new Error(`there is no probe ${only}: take ${all.map(({ name }) => name).join(', ')}`);
    for (const { path, example } of routes) {
      for (const body of [example, {}])
        await watched.send({ method: 'POST', target: path, headers: [JSON_TYPE], body: jsonBody(body) });
    }
    const start = await gateway.size();
    const until = Date.now() + seconds * 1000;
    const runs = probes.map(async (probe) => [probe.name, (await probe.run(seed, until, report)).inputs] as const);
    const halfway = new Promise((resolve) => setTimeout(resolve, seconds * 500)).then(gateway.size);
    await Promise.allSettled(runs);
    const inputs = new Map(await Promise.all(runs));
    const middle = await halfway;
    const signed = shelf.signed + (inputs.get('purchases') ?? 0) + 1;
    for (const giveUpAt = Date.now() + PATIENCE_MS; ; ) {
      await new Promise((resolve) => setTimeout(resolve, CALM_MS));
      const sizes = { start, middle, end: await gateway.size() };
      const leftovers = leftoversIn(gateway, sizes, seconds, signed);
      if (leftovers.length === 0 || Date.now() > giveUpAt) {
        return { inputs, statuses: watched.statuses, sizes, leftovers };
      }
    }
  } finally {
    await gateway.stop();
  }
}
