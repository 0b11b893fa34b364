import type { MppRail } from '../../payment/rails/mpp.ts';
import type { RailDefinition } from '../definition.ts';
import { mppDeclaration } from './declaration.ts';
import { mppDocuments } from './documents/index.ts';

export const mpp: RailDefinition<MppRail> = {
  ...mppDeclaration,
  documents: mppDocuments,
  browserHeaders: {
    request: ['Authorization', 'Accept-Payment'],
    response: ['WWW-Authenticate', 'Payment-Receipt'],
  },
};
