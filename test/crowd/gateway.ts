/** A gateway in its sandbox with what the crowd needs around it. */
import '../own-fetch.ts';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import type { Upstream } from '../../src/catalogue/types.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { type Gateway, startGateway } from '../gateway.ts';
import { type Files, openFiles } from './files.ts';
import { lateFacilitator } from './late-facilitator.ts';
import { openProviders, type Providers } from './providers.ts';

interface CrowdGateway {
  readonly gateway: Gateway;
  readonly providers: Providers;
  readonly files: Files;
  /** Payers whose settlements on `chain-e` are refused, and carried out later, by address in lower case. */
  readonly settledLate: Set<string>;
  stop(): Promise<void>;
}

const NETWORKS = ['chain-a', 'chain-c', 'chain-e'];
/** `chain-e`. */
const LATE = 'eip155:988';
/** Upstreams whose calls pass `providers.ts`. */
const MARKED = ['chat', 'predictions'];

export async function openCrowdGateway(catalogue: string): Promise<CrowdGateway> {
  const settledLate = new Set<string>();
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops) await each();
  };
  const files = await openFiles();
  stops.push(files.stop);
  let providers: Providers | undefined;
  const between = async (sandbox: Sandbox) => {
    const [doubles = ''] = sandbox.trustedOrigins;
    const opened = await openProviders(loadCatalogue(catalogue, shipped), doubles);
    providers = opened;
    const late = await lateFacilitator(sandbox, LATE, settledLate);
    stops.push(opened.stop, late.stop);
    return {
      baseUrlOf(upstream: Upstream) {
        const url = sandbox.baseUrlOf?.(upstream);
        return MARKED.includes(upstream.name) ? url?.replace(doubles, opened.url) : url;
      },
      trustedOrigins: [...sandbox.trustedOrigins, opened.url],
      readFrom: (url: URL, options: Parameters<NonNullable<Sandbox['readFrom']>>[1]) =>
        files.find(url) ?? sandbox.readFrom?.(url, options),
      facilitators: late.facilitators,
    };
  };
  const gateway = await startGateway({ networks: NETWORKS, tempo: true, catalogue, between });
  stops.unshift(gateway.stop);
  if (!providers) throw new Error('the providers were not started');
  return { gateway, providers, files, settledLate, stop };
}
