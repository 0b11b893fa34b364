/** The same call, drawn from a deposit: nothing is asked of a facilitator or a chain. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBase } from '../base-chain.ts';
import type { Bench } from '../bench.ts';
import { copyOf } from '../catalogue.ts';
import { loadRow } from '../row.ts';
import { subject } from '../subject.ts';

/** Writes a catalogue that lets calls be drawn from deposits to a new folder. */
function sellFromChannels(bench: Bench): string {
  const folder = bench.folder();
  copyOf(bench.catalogue, folder);
  const file = join(folder, 'service.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nexposure: { channels: true }\n`);
  return folder;
}

export const channel = loadRow(
  'channel',
  { path: subject.path, body: subject.body, payment: 'channel', expects: 200 },
  async (bench) => {
    const { wallets, signer } = await startBase(bench);
    const server = await bench.gateway({ catalogue: sellFromChannels(bench), signer });
    const exact = { server: await bench.gateway(), payment: 'x402' as const };
    const free = { server: await bench.bare('node', server.url), payment: 'x402' as const };
    return {
      ours: { server, wallets },
      beside: [
        { who: 'turnpike, exact by an instant facilitator', target: exact, goal: { times: 3 } },
        // What the work alone takes, for whoever shows a payment.
        { who: 'node:http, free', target: free, isNoGateway: true },
      ],
    };
  },
);
