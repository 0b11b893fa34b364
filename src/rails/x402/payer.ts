/** The sandbox's funded wallet, as an unmodified x402 client. */
import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { toClientEvmSigner } from '@x402/evm';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { createPublicClient, http } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { asJsonObject } from '../../json.ts';
import { type Payer, PayProblem, type SandboxState, worthOn } from '../paying-client.ts';

export type X402Scheme = 'exact' | 'auth-capture' | 'batch-settlement';

/**
 * Pays on the network that `wanted` names (CAIP-2). It gets only that network's wallet: the client itself prefers offers
 * that are settled after the result to those that are settled before, on whatever network. The amount is for the caller
 * to judge, so the client's own limits are off. `scheme`: as x402 calls it.
 */
export async function openWallet(
  sandbox: SandboxState,
  wanted: string | undefined,
  scheme: X402Scheme = 'exact',
): Promise<x402HTTPClient> {
  const client = new x402Client((_version, accepts) => {
    const payable = accepts.filter((offer) => offer.scheme === scheme);
    if (payable.length === 0) {
      throw new PayProblem(
        `the path is not paid by ${scheme}, but by ${accepts.map((offer) => offer.scheme).join(', ')}`,
      );
    }
    const chosen = wanted === undefined ? payable[0] : payable.find((offer) => offer.network === wanted);
    if (chosen) return chosen;
    const elsewhere = payable.map(({ network }) => network).join(', ');
    throw new PayProblem(`the path is not paid on ${wanted}, but on ${elsewhere}`);
  });
  client.setSpendControls(false);
  const isWanted = ({ caip2 }: { caip2: string }) => wanted === undefined || wanted === caip2;
  for (const { caip2, rpcUrl, privateKey } of Object.values(sandbox.evm).filter(isWanted)) {
    const account = privateKeyToAccount(privateKey);
    client.register(caip2 as `${string}:${string}`, signing(scheme, account, rpcUrl));
  }
  if (sandbox.solana && isWanted(sandbox.solana)) {
    const { caip2, rpcUrl, secretKey } = sandbox.solana;
    const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
    client.register(caip2 as `${string}:${string}`, new ExactSvmScheme(signer, { rpcUrl }));
  }
  return new x402HTTPClient(client);
}

function signing(scheme: X402Scheme, account: PrivateKeyAccount, rpcUrl: string) {
  if (scheme === 'exact') return new ExactEvmScheme(account, { rpcUrl });
  if (scheme === 'auth-capture') return new AuthCaptureEvmScheme(account);
  const reader = createPublicClient({ transport: http(rpcUrl) });
  // It remembers nothing but what the chain and the gateway say of the channel.
  return new BatchSettlementEvmScheme(toClientEvmSigner(account, reader as Parameters<typeof toClientEvmSigner>[1]));
}

/** What is told of the channel after a call. */
function drawn(extra: unknown): string {
  const { channelState } = asJsonObject(extra);
  const { channelId, balance, chargedCumulativeAmount } = asJsonObject(channelState);
  return `drawn from channel ${channelId}: ${chargedCumulativeAmount} of ${balance} atomic units are used`;
}

/** What `--scheme` takes -> what x402 calls it. */
const SCHEMES: Readonly<Record<string, X402Scheme>> = {
  exact: 'exact',
  hold: 'auth-capture',
  channel: 'batch-settlement',
};

/** `exact on chain-c, chain-a; channel on chain-c`, as `--scheme` and `--network` take them. */
function waysIn(accepts: readonly { scheme: string; network: string }[], names: ReadonlyMap<string, string>): string {
  const networks = new Map<string, Set<string>>();
  for (const { scheme, network } of accepts) {
    const [named = scheme] = Object.entries(SCHEMES).find(([, known]) => known === scheme) ?? [];
    networks.set(named, (networks.get(named) ?? new Set()).add(names.get(network) ?? network));
  }
  return [...networks].map(([named, on]) => `${named} on ${[...on].join(', ')}`).join('; ');
}

/** What makes a gateway offer it. */
const OFFERED_BY: Readonly<Record<string, string>> = {
  hold: 'exposure: { hold: true }',
  channel: 'exposure: { channels: true }',
};

function notOffered(named: string, network: string | undefined, ways: string): PayProblem {
  const what = `--scheme ${named} is not offered for this path${network === undefined ? '' : ` on ${network}`}`;
  const setting = OFFERED_BY[named];
  const own = setting === undefined ? '' : `. A gateway of yours offers it with ${setting} in service.yaml`;
  return new PayProblem(`${what}, nothing was paid: it is paid by ${ways}${own}`);
}

/** `network`: neutral or CAIP-2 id; undefined for the first that is offered. */
export async function openPayer(sandbox: SandboxState, network: string | undefined, named = 'exact'): Promise<Payer> {
  const scheme = SCHEMES[named];
  if (!scheme) throw new PayProblem(`--scheme is ${Object.keys(SCHEMES).join(' or ')}: got ${named}`);
  const names = new Map(Object.entries(sandbox.evm).map(([id, { caip2 }]) => [caip2, id]));
  if (sandbox.solana) names.set(sandbox.solana.caip2, sandbox.solana.id);
  const wanted = [...names].find(([caip2, id]) => network === id || network === caip2)?.[0];
  if (network !== undefined && wanted === undefined) {
    const known = [...names.values()].sort().join(', ');
    throw new PayProblem(`--network ${network} is not a network of this sandbox: it has ${known}`);
  }
  const client = await openWallet(sandbox, wanted, scheme);
  let challenge: Parameters<x402HTTPClient['createPaymentPayload']>[0] | undefined;
  let payload: Awaited<ReturnType<x402HTTPClient['createPaymentPayload']>> | undefined;
  return {
    offer(unpaid, body) {
      if (unpaid.headers.has('www-authenticate') && !unpaid.headers.has('payment-required')) {
        throw new PayProblem('this path is sold over MPP, nothing was paid: take --protocol mpp');
      }
      challenge = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), body);
      const { accepts } = challenge;
      const payable = [...new Set(accepts.map((offer) => names.get(offer.network) ?? offer.network))];
      const isPayable = (offer: { scheme: string; network: string }) =>
        offer.scheme === scheme && (wanted === undefined || offer.network === wanted);
      const chosen = accepts.find(isPayable);
      if (!chosen) throw notOffered(named, network, waysIn(accepts, names));
      const { amount, asset, payTo } = chosen;
      const on = names.get(chosen.network) ?? chosen.network;
      const payment = `${amount} atomic units of ${asset} to ${payTo} on ${on}`;
      return { amount: worthOn(sandbox, chosen.network, amount), payable, payment };
    },
    async sign() {
      if (!challenge) throw new Error('sign comes after offer');
      payload = await client.createPaymentPayload(challenge);
      return client.encodePaymentSignatureHeader(payload);
    },
    async corrected(refused) {
      if (!payload) return false;
      const result = await client.processPaymentResult(payload, (name) => refused.headers.get(name), refused.status);
      return result.recovered === true;
    },
    receipt(answer) {
      const { transaction, network: on, extra } = client.getPaymentSettleResponse((name) => answer.headers.get(name));
      return [
        ...(transaction ? [`transaction ${transaction} on ${on}`] : []),
        ...(scheme === 'batch-settlement' ? [drawn(extra)] : []),
      ].join('; ');
    },
  };
}
