/**
 * Refunds as payments the other way: the key that gives back signs an `exact` payment to the payer, and the network's own
 * facilitator settles it. What was signed ends by itself (EIP-3009's `validBefore`, Solana's blockhash), so that the chain
 * can say of it for good that it will never move money. On EVM networks each refund has a nonce of its own, whatever
 * database it is sent from: the token itself refuses a second transfer with it.
 */

import type { VariableReader } from '../../environment.ts';
import { toDecimal } from '../../money.ts';
import { refused, unused } from '../../on-chain/settlement.ts';
import { fromAtomic } from '../../payment/assets.ts';
import type { Authorization } from '../../payment/authorizations/authorization.ts';
import { findEip3009Settlement, readEip3009 } from '../../payment/authorizations/eip3009.ts';
import { readSolana } from '../../payment/authorizations/solana.ts';
import type { LogProgress } from '../../payment/chains/evm-logs.ts';
import { type Looks, openLooks } from '../../payment/chains/looks.ts';
import type { PayableNetwork, PayableNetworks } from '../../payment/networks.ts';
import { refundIdentity } from '../../payment/refunds/identity.ts';
import type { RefundOrder, RefundSender } from '../../payment/refunds/sender.ts';
import { deadline, unlessAborted } from '../../timing.ts';
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
/** What the client asks of a node has no end of its own, and other networks wait for this one. */
const SIGNING_MS = 10_000;

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
async function signEvm(
  privateKey: string,
  { asset, caip2 }: PayableNetwork,
  order: RefundOrder,
  now: number,
): Promise<Authorization> {
  const { signTransfer } = await import('./refund-transfer.ts');
  const { signature, authorization } = await signTransfer({
    chainId: Number(caip2.split(':')[1]),
    privateKey,
    asset,
    to: order.payee,
    amount: order.amount,
    nonce: refundIdentity(caip2, order),
    validBefore: Math.floor(now / 1000) + LASTS_SECONDS,
  });
  return readEip3009(authorization, signature);
}

async function signSolana(secretKey: string, requirements: Requirements, rpcUrl: string): Promise<Authorization> {
  const { createKeyPairSignerFromBytes, getBase58Encoder } = await import('@solana/kit');
  const { ExactSvmScheme } = await import('@x402/svm/exact/client');
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
  const signing = new ExactSvmScheme(signer, { rpcUrl }).createPaymentPayload(2, requirements);
  const { signal, done } = deadline(SIGNING_MS);
  const late = () => new Error("the chain's node gave no answer: the transfer is not signed yet");
  const { payload } = await unlessAborted(signal, signing, late).finally(done);
  return readSolana(payload.transaction);
}

export function openRefunds({ networks, signers, findSettlement, publicUrl, now }: RefundParts): RefundSender {
  const looks: Looks<LogProgress> = openLooks(now);

  /** Throws Error where nothing can be sent there now. */
  function targetOf(order: RefundOrder): { readonly network: PayableNetwork; readonly key: string } {
    const id = networks.configured(order.network)?.id ?? order.network;
    const network = networks.find(id);
    if (!network) throw new Error(`no facilitator settles on ${id} at the moment`);
    if (network.asset.address.toLowerCase() !== order.asset.toLowerCase()) {
      throw new Error(`it was paid in another asset (${order.asset}) than ${id} is paid in now: give it back by hand`);
    }
    const key = signers[network.family];
    if (key === undefined) throw new Error(`no key gives money back on ${id}`);
    return { network, key };
  }

  async function sign(
    network: PayableNetwork,
    key: string,
    order: RefundOrder,
    requirements: Requirements,
  ): Promise<Authorization> {
    const { id, family, rpcUrl } = network;
    if (family === 'evm') return await signEvm(key, network, order, now());
    if (rpcUrl === undefined) throw new Error(`no RPC address is configured for ${id}`);
    return await signSolana(key, requirements, rpcUrl);
  }

  return {
    serves(name) {
      const network = networks.configured(name);
      return network !== undefined && signers[network.family] !== undefined;
    },

    async find(order) {
      const { network, key } = targetOf(order);
      const { family, caip2, asset, rpcUrl } = network;
      if (family === 'solana') return unused('on Solana nothing tells a refund from another transfer');
      // The token refuses a second transfer whether or not it can be asked for the first.
      if (rpcUrl === undefined) return unused('no node can be asked');
      const { addressOf } = await import('./refund-transfer.ts');
      const query = {
        rpcUrl,
        asset: asset.address,
        payer: addressOf(key),
        payTo: order.payee,
        value: order.amount.toString(),
        nonce: refundIdentity(caip2, order),
        // Nobody knows when what another database has signed ends.
        validBefore: Number.POSITIVE_INFINITY,
        since: seenSince(order.paidAt),
      };
      const found = await findEip3009Settlement(query, looks);
      if (found.state !== 'refused') return found;
      return refused(
        `it was sent or cancelled otherwise before (${found.reason}; nonce ${query.nonce} of ${query.payer}): look at the chain, and give back by hand what is missing`,
      );
    },

    async prepare(order) {
      const { network, key } = targetOf(order);
      const { id, asset, caip2: chain, facilitator } = network;
      const requirements = requirementsFor(network, order);
      const authorization = await sign(network, key, order, requirements);
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
      return findSettlement(query, networks.configured(query.network)?.rpcUrl);
    },
  };
}
