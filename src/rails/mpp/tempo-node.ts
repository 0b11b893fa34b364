import type { Log } from '../../log.ts';
import { chainOfNode } from '../../payment/chains/chain-of-node.ts';

/** The node that is asked about payments: on another chain than theirs, tokens that are worth nothing would pay. */
export interface TempoNode {
  /** False while it is known to be of another chain. */
  isOurs(): boolean;
  /** The same, once it has been asked. */
  isFoundOurs(): Promise<boolean>;
}

const AGAIN_MS = 10_000;

interface Asked {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly log: Pick<Log, 'error'> | undefined;
  now(): number;
}

/** Asks when it is first wanted, and until the answer is right. A node that does not tell is believed. */
export function openTempoNode({ rpcUrl, chainId, log, now }: Asked): TempoNode {
  const ours = `eip155:${chainId}`;
  let found: string | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    const told = await chainOfNode('evm', rpcUrl);
    if (told === undefined || told === found) return;
    found = told;
    if (told === ours) return;
    const reason = `TURNPIKE_TEMPO_RPC_URL leads to a node of ${told}, not of ${ours}: correct it, or TURNPIKE_TEMPO_CHAIN_ID`;
    log?.error({ reason }, 'nothing is sold on Tempo');
  };
  const look = async (): Promise<void> => {
    if (found !== ours && now() - askedAt >= AGAIN_MS) {
      askedAt = now();
      asking = ask();
    }
    await asking;
  };
  const isOurs = () => found === undefined || found === ours;
  return {
    isOurs() {
      void look();
      return isOurs();
    },
    async isFoundOurs() {
      await look();
      return isOurs();
    },
  };
}
