import type { Row } from '../row.ts';
import { bytesOnTheWire } from './bytes.ts';
import { channel } from './channel.ts';
import { chatStream, manyChats, oneChat } from './chat.ts';
import { claims } from './claims.ts';
import { threeInstances } from './instances.ts';
import { mcp } from './mcp.ts';
import { loadedMemory } from './memory.ts';
import { mppChallenge, mppPaid } from './mpp.ts';
import { hundredTimesTheRoutes, tenTimesTheRoutes } from './routes.ts';
import { settledHere } from './settled-here.ts';
import { start } from './start.ts';
import { fullStore, postgres } from './store.ts';
import { fourWorkers, twoWorkers, twoWorkersUnpaid } from './workers.ts';
import { challenge, paid, paidByStrangers, refused, replayed } from './x402.ts';

/** In the order of the table. */
export const rows: readonly Row[] = [
  challenge,
  paid,
  paidByStrangers,
  replayed,
  refused,
  settledHere,
  channel,
  mppChallenge,
  mppPaid,
  mcp,
  manyChats,
  oneChat,
  chatStream,
  postgres,
  fullStore,
  claims,
  twoWorkersUnpaid,
  twoWorkers,
  fourWorkers,
  threeInstances,
  tenTimesTheRoutes,
  hundredTimesTheRoutes,
  start,
  loadedMemory,
  bytesOnTheWire,
];
