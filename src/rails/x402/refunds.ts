/**
 * Refunds as payments the other way: the key that gives back signs an `exact` payment to the payer, and the network's own
 * facilitator settles it. What was signed ends by itself (EIP-3009's `validBefore`, Solana's blockhash), so that the chain
 * can say of it for good that it will never move money.
 */
import type { VariableReader } from '../../environment.ts';
import { toDecimal } from '../../money.ts';
import { fromAtomic } from '../../payment/assets.ts';
import type { Authorization } from '../../payment/authorizations/authorization.ts';
import { readEip3009 } from '../../payment/authorizations/eip3009.ts';
import { readSolana } from '../../payment/authorizations/solana.ts';
import type { PayableNetwork, PayableNetworks } from '../../payment/networks.ts';
import type { RefundOrder, RefundSender } from '../../payment/refunds/sender.ts';
import { type FindSettlement, type RecoveryQuery, seenSince } from './recovery.ts';

/** Private keys: into no log, error or store with them. */
export interface RefundSigners {
  readonly evm: string | undefined;
  readonly solana: string | undefined;
}

export function readRefundSigners({ privateKey }: VariableReader): RefundSigners | undefined {
  const evm = privateKey('TURNPIKE_REFUND_SIGNER_EVM', 'evm');
  const solana = privateKey('TURNPIKE_REFUND_SIGNER_SOLANA', 'solana');
  return evm || solana ? { evm, solana } : undefined;
}

interface RefundParts {
  readonly networks: PayableNetworks;
  readonly signers: RefundSigners;
  readonly findSettlement: FindSettlement;
  readonly publicUrl: string;
  now(): number;
}

/** How long what is signed may be good for, in seconds: time for a facilitator, and not for a thief. */
const LASTS_SECONDS = 300;

type Requirements = ReturnType<typeof requirementsFor>;

const requirementsFor = ({ caip2, asset, extra }: PayableNetwork, { payee, amount }: RefundOrder) => ({
  scheme: 'exact',
  network: caip2 as `${string}:${string}`,
  asset: asset.address,
  amount: amount.toString(),
  payTo: payee,
  maxTimeoutSeconds: LASTS_SECONDS,
  extra: { ...extra },
});

// The chains' libraries are loaded once something is given back.
async function signEvm(privateKey: string, requirements: Requirements): Promise<Authorization> {
  const { privateKeyToAccount } = await import('viem/accounts');
  const { ExactEvmScheme } = await import('@x402/evm/exact/client');
  const scheme = new ExactEvmScheme(privateKeyToAccount(privateKey as `0x${string}`));
  const { payload } = await scheme.createPaymentPayload(2, requirements);
  return readEip3009(payload.authorization as Record<string, unknown>, payload.signature);
}

async function signSolana(secretKey: string, requirements: Requirements, rpcUrl: string): Promise<Authorization> {
  const { createKeyPairSignerFromBytes, getBase58Encoder } = await import('@solana/kit');
  const { ExactSvmScheme } = await import('@x402/svm/exact/client');
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
  const { payload } = await new ExactSvmScheme(signer, { rpcUrl }).createPaymentPayload(2, requirements);
  return readSolana(payload.transaction);
}

export function openRefunds({ networks, signers, findSettlement, publicUrl, now }: RefundParts): RefundSender {
  async function sign(network: PayableNetwork, requirements: Requirements): Promise<Authorization> {
    const { id, family, rpcUrl } = network;
    const key = signers[family];
    if (key === undefined) throw new Error(`no key gives money back on ${id}`);
    if (family === 'evm') return await signEvm(key, requirements);
    if (rpcUrl === undefined) throw new Error(`no RPC address is configured for ${id}`);
    return await signSolana(key, requirements, rpcUrl);
  }

  return {
    serves(name) {
      const network = networks.configured(name);
      return network !== undefined && signers[network.family] !== undefined;
    },

    async prepare(order) {
      const id = networks.configured(order.network)?.id ?? order.network;
      const network = networks.find(id);
      if (!network) throw new Error(`no facilitator settles on ${id} at the moment`);
      const { asset, caip2: chain, facilitator } = network;
      if (asset.address.toLowerCase() !== order.asset.toLowerCase()) {
        throw new Error(
          `it was paid in another asset (${order.asset}) than ${id} is paid in now: give it back by hand`,
        );
      }
      const requirements = requirementsFor(network, order);
      const authorization = await sign(network, requirements);
      const terms = { chain, asset: asset.address, payTo: order.payee, amount: order.amount };
      authorization.check(terms, now());
      const resource = { url: publicUrl, description: 'Refund', mimeType: 'text/plain' };
      const payload = { x402Version: 2, accepted: requirements, payload: authorization.payload, resource };
      const query = {
        x402Version: 2,
        network: id,
        networkName: chain,
        payer: authorization.payer,
        since: seenSince(now()),
        ...authorization.recoveryQuery(terms),
        quoted: toDecimal(fromAtomic(order.amount.toString(), asset)),
      };
      return {
        recoveryQuery: JSON.stringify(query),
        async send() {
          const settlement = await facilitator.settle(payload, requirements);
          return settlement.state === 'settled' ? { ...settlement, amount: order.amount } : settlement;
        },
      };
    },

    async recover(text) {
      const query: RecoveryQuery = JSON.parse(text);
      return findSettlement(query, networks.find(query.network)?.rpcUrl);
    },
  };
}
