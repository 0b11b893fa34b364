/**
 * Genuine chains on this machine: two EVM networks, Solana and Tempo, each with its stablecoin. What is settled here is
 * what the project's own facilitator sends, and what a Tempo payer signed.
 */

import type { Network } from '../../../src/catalogue/types.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { type Chains as Started, startChains } from '../../../src/sandbox/chains/index.ts';
import { loadSound } from '../../load-catalogue.ts';
import type { Chains } from '../chains.ts';
import { type Ledger, ledgerOf, type Transfer } from '../ledger.ts';
import { tempoName } from '../names.ts';
import { readEvmTransfers } from './evm-transfers.ts';
import { openFunds } from './funds.ts';
import { openPayments } from './payments.ts';
import { openSettler } from './settler.ts';
import { readSolanaTransfers } from './solana-transfers.ts';
import { readTempoTransfers } from './tempo-transfers.ts';

const SOLANA = 'chain-a';
const EVM = ['chain-c', 'chain-e'];

/** Gateways wait for a minute by their own clocks before they say of a Solana payment that it will never settle. */
const QUIET_MS = 90_000;
const DEEP = 4;
const NODE_TIMEOUT_MS = 15_000;

/** The network as it is live, with a local chain in its place. */
const asLive = (network: Network): Network => ({ ...network, sandbox: network.live });

/** `transferWithMemo(address,uint256,bytes32)` in a signed transaction: the last word is the memo. */
const TRANSFER_WITH_MEMO = /95777d59[0-9a-f]{128}([0-9a-f]{64})/;

export async function openReal(catalogue: string): Promise<Chains> {
  const all = [...loadSound(catalogue).networks.values()];
  const networks = all.filter(({ id }) => id === SOLANA || EVM.includes(id));
  let passedMs = 0;
  const started = await startChains({
    networks: networks.map(asLive),
    tempo: true,
    now: () => Date.now() + passedMs,
  });
  const { solana, tempo, payTo } = started;
  if (!solana || !tempo) throw new Error('not all chains were started');
  const facilitator = localFacilitator(started.facilitatorOptions);
  const tempoChain = `eip155:${tempo.chainId}`;
  const nodes = new Map([
    ...Object.entries(started.evm).map(([id, { rpcUrl }]) => [id, rpcUrl] as const),
    [SOLANA, solana.rpcUrl],
    ['tempo', tempo.rpcUrl],
  ]);
  const v1NameOf = (id: string) => networks.find((network) => network.id === id)?.live.v1Name;

  return {
    environment: {
      TURNPIKE_PAY_TO_CHAIN_A: payTo[SOLANA] ?? '',
      TURNPIKE_PAY_TO_CHAIN_C: payTo['chain-c'] ?? '',
      TURNPIKE_PAY_TO_CHAIN_E: payTo['chain-e'] ?? '',
      TURNPIKE_TEMPO_CURRENCY: tempo.currency,
      TURNPIKE_TEMPO_RECIPIENT: payTo.tempo ?? '',
      TURNPIKE_TEMPO_CHAIN_ID: String(tempo.chainId),
    },
    nodes: {
      TURNPIKE_RPC_URL_CHAIN_A: SOLANA,
      TURNPIKE_RPC_URL_CHAIN_C: 'chain-c',
      TURNPIKE_RPC_URL_CHAIN_E: 'chain-e',
      TURNPIKE_TEMPO_RPC_URL: 'tempo',
    },
    methods: ['exact', 'exact of version 1', 'upto', 'exact on chain-e', 'exact on Solana', 'mpp', 'tempo'],
    settler: openSettler(
      facilitator,
      networks.map(({ id, live: { caip2, asset } }) => ({ caip2, asset: asset.address, v1Name: v1NameOf(id) })),
    ),
    async askNode(node, request) {
      const answer = await fetch(nodes.get(node) ?? '', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: request,
        signal: AbortSignal.timeout(NODE_TIMEOUT_MS),
      });
      return answer.text();
    },
    sentBy(request) {
      const { method, params } = JSON.parse(request);
      if (!String(method).startsWith('eth_sendRawTransaction')) return undefined;
      return tempoName(tempoChain, TRANSFER_WITH_MEMO.exec(String(params[0]))?.[1] ?? '');
    },
    openWallet: openFunds(started),
    pay: openPayments(started, v1NameOf('chain-c') ?? ''),
    async letPass(seconds) {
      passedMs += seconds * 1000;
      for (const rpcUrl of [...Object.values(started.evm), tempo].map((access) => access.rpcUrl)) {
        const rpc = createRpc(rpcUrl);
        await rpc('evm_increaseTime', [seconds]);
        // Deep enough for credits to be spent.
        for (let block = 0; block < DEEP; block += 1) await rpc('evm_mine', []);
      }
    },
    quietMs: QUIET_MS,
    readLedger: () => readLedger(started),
    async stop() {
      await facilitator.close();
      await started.stop();
    },
  };
}

/** The addresses that are paid have nothing at the start. */
async function readLedger({ evm, solana, tempo, payTo, balance }: Started): Promise<Ledger> {
  if (!solana || !tempo) throw new Error('not all chains were started');
  const gains = new Map<string, bigint>();
  const transfers: Transfer[] = [];
  for (const [id, access] of Object.entries(evm)) {
    const to = payTo[id] ?? '';
    transfers.push(...(await readEvmTransfers(access, to)));
    gains.set(access.caip2, await balance(id, to));
  }
  transfers.push(...(await readSolanaTransfers(solana, payTo[solana.id] ?? '')));
  gains.set(solana.caip2, await balance(solana.id, payTo[solana.id] ?? ''));
  transfers.push(...(await readTempoTransfers(tempo, payTo.tempo ?? '')));
  gains.set(`eip155:${tempo.chainId}`, await balance('tempo', payTo.tempo ?? ''));
  return ledgerOf(transfers, gains);
}
