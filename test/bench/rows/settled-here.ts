/** The same call, settled by the gateway's own signer on a chain of this machine: as much as its node takes. */
import { startBase } from '../base-chain.ts';
import { loadRow } from '../row.ts';
import { subject } from '../subject.ts';

export const settledHere = loadRow(
  'settled-here',
  { path: subject.path, body: subject.body, payment: 'x402', expects: 200 },
  async (bench) => {
    const { wallets, signer } = await startBase(bench);
    return {
      ours: { server: await bench.gateway({ signer }), wallets },
      beside: [{ who: 'turnpike, by an instant facilitator', target: { server: await bench.gateway() } }],
    };
  },
);
