/** One chain, simulated in this process: fast, and it fails only where it is told to. */
import { randomBytes } from 'node:crypto';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { Chains } from '../chains.ts';
import { ledgerOf } from '../ledger.ts';
import { eip3009Name, permit2Name } from '../names.ts';
import { openChain, type Transfer } from './chain.ts';
import { readNetwork } from './network.ts';
import { answerRpc } from './node.ts';
import { pay } from './payments.ts';
import { openSettler } from './settler.ts';

const PAY_TO = `0x${'0a'.repeat(20)}`;
const QUIET_MS = 60_000;

export function openSimulated(catalogue: string): Chains {
  const network = readNetwork(catalogue);
  const { caip2 } = network;
  const chain = openChain(caip2, network.asset.toLowerCase());
  const atStart = chain.balance(PAY_TO);
  const named = ({ kind, payer, nonce, transaction, moved }: Transfer) => {
    const payment =
      kind === 'eip3009' ? eip3009Name(caip2, chain.asset, payer, nonce) : permit2Name(caip2, payer, nonce);
    return { payment, transaction, moved };
  };
  return {
    environment: { TURNPIKE_PAY_TO_CHAIN_C: PAY_TO },
    nodes: { TURNPIKE_RPC_URL_CHAIN_C: network.id },
    methods: ['exact', 'exact of version 1', 'upto', 'mpp'],
    settler: openSettler(chain, network),
    async askNode(_node, request) {
      const { id, method, params } = JSON.parse(request);
      return JSON.stringify({ jsonrpc: '2.0', id, result: answerRpc(chain, method, params) });
    },
    sentBy: () => undefined,
    /** Real keys are made only where something is really signed: that takes time. */
    async openWallet(method, { isContract }) {
      const privateKey = method === 'mpp' ? generatePrivateKey() : '0x';
      const address =
        privateKey === '0x' ? `0x${randomBytes(20).toString('hex')}` : privateKeyToAddress(privateKey).toLowerCase();
      if (isContract) chain.contracts.add(address);
      return { address, privateKey };
    },
    pay: (unpaid, method, wallet, options) => pay(network, unpaid, method, wallet, options),
    async letPass(seconds) {
      chain.letPass(seconds);
    },
    takeBack(payment) {
      const transfer = chain.transfers.find((each) => named(each).payment === payment);
      return transfer && chain.takeBack(transfer);
    },
    quietMs: QUIET_MS,
    async readLedger() {
      const gains = new Map([[caip2, chain.balance(PAY_TO) - atStart]]);
      const there = new Set(chain.transfers.map(({ transaction }) => transaction));
      const takenBack = chain.takenBack.filter(({ transaction }) => !there.has(transaction));
      return ledgerOf(chain.transfers.map(named), gains, takenBack.map(named));
    },
    stop: async () => undefined,
  };
}
