/** What the gateways keep their books in: a file that one of them has at a time, or a server that three share. */
import { join } from 'node:path';
import { startPostgres } from '../postgres.ts';
import { openCable } from './cable.ts';

export const stores = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof stores)[number];

export interface Database {
  /** How many gateways run at a time. */
  readonly slots: number;
  /** Where the gateway in this place finds it; undefined: a file in its data folder. */
  urlFor(slot: number): string | undefined;
  /** Undefined where there is no server. */
  readonly server:
    | undefined
    | {
        /** It crashes, and is started again. */
        restart(onCrash: () => void): Promise<void>;
        /** The gateway in this place does not reach it for so long: nothing is refused, nothing is answered. */
        cutOff(slot: number, milliseconds: number): void;
      };
  /** For whoever reads the books. */
  readonly opened: { readonly databaseUrl?: string; readonly file: string };
  stop(): Promise<void>;
}

const INSTANCES = 3;

export async function openDatabase(store: StoreName, directory: string): Promise<Database> {
  const file = join(directory, 'turnpike.sqlite');
  if (store === 'sqlite') {
    return { slots: 1, urlFor: () => undefined, server: undefined, opened: { file }, stop: async () => {} };
  }
  const { url, interrupt, stop } = await startPostgres();
  const slots = Array.from({ length: INSTANCES }, (_, slot) => slot);
  const cables = await Promise.all(slots.map(() => openCable(Number(new URL(url).port))));
  return {
    slots: INSTANCES,
    urlFor(slot) {
      const own = new URL(url);
      own.port = String(cables[slot]?.port);
      return own.href;
    },
    server: {
      async restart(onCrash) {
        const startAgain = await interrupt();
        onCrash();
        await startAgain();
      },
      cutOff: (slot, milliseconds) => cables[slot]?.cut(milliseconds),
    },
    opened: { databaseUrl: url, file },
    async stop() {
      await Promise.all(cables.map((cable) => cable.stop()));
      await stop();
    },
  };
}
