import type { RailDefinition } from '../definition.ts';
import { type MppConfig, readMppConfig } from './config.ts';
import { mppDeclaration } from './declaration.ts';
import { mppDocuments } from './documents/index.ts';
import { openMpp } from './open.ts';
import type { MppRail } from './rail.ts';

export const mpp: RailDefinition<MppConfig, MppRail> = {
  ...mppDeclaration,
  readConfig: readMppConfig,
  accounts: ({ tempo }) =>
    tempo
      ? [
          {
            name: 'tempo',
            caip2: `eip155:${tempo.chainId}`,
            rpcUrl: tempo.rpcUrl,
            asset: tempo.currency,
            payTo: tempo.recipient,
          },
        ]
      : [],
  open: openMpp,
  documents: mppDocuments,
  browserHeaders: {
    request: ['Authorization', 'Accept-Payment'],
    response: ['WWW-Authenticate', 'Payment-Receipt'],
  },
};
