/** Gateways that deploy the wallets which pay before they exist (ERC-6492), of factories that their operator allows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Test } from 'tap';
import { type Address, createPublicClient, http } from 'viem';
import { createRpc } from '../src/payment/chains/rpc.ts';
import { type LocalFacilitator, localFacilitator } from '../src/payment/facilitators/local.ts';
import { newEvmWallet } from '../src/sandbox/chains/wallets.ts';
import type { Sandbox } from '../src/sandbox/index.ts';
import { type PaidCall, sendProof } from './clients.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { serve } from './payment/facilitators/front.ts';
import { fresh, picturesWith } from './settling-first.ts';
import { newSmartWallet, placeFactory, type SmartWallet } from './smart-wallets.ts';

export const NETWORK = 'chain-c';
/** Of `fresh`. */
export const PRICE = 60_000n;
export const ALLOWED = '0x00000000000000000000000000000000000fac01';
export const OTHER = '0x00000000000000000000000000000000000fac02';
/** Nothing is deployed there. */
export const ABSENT = '0x00000000000000000000000000000000000fac03';

/** What the gateways have logged. */
export const lines: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });

interface Started {
  readonly exposure?: string;
  readonly limits?: string;
  /** In place of the sandbox's facilitator. */
  readonly settledBy?: (state: Gateway['state']) => Promise<LocalFacilitator>;
}

/** A gateway that deploys the wallets of these factories. */
export async function startDeploying(
  t: Test,
  factories: readonly string[],
  { exposure = '{}', limits = '{}', settledBy }: Started = {},
): Promise<Gateway> {
  const catalogue = picturesWith(t, `${exposure}\nlimits: ${limits}`);
  const networks = join(catalogue, 'networks.yaml');
  const list = factories.map((factory) => `"${factory}"`).join(', ');
  if (factories.length > 0) {
    const text = readFileSync(networks, 'utf8');
    writeFileSync(networks, text.replace(/(\n {4}caip2: eip155:84532\n)/, `$1    walletFactories: [${list}]\n`));
  }
  const gateway = await startGateway({
    catalogue,
    networks: [NETWORK],
    log,
    between: async ({ state }: Sandbox) => {
      const { rpcUrl } = accessIn(state as Gateway['state']);
      for (const factory of [ALLOWED, OTHER]) await placeFactory({ rpcUrl }, factory);
      const facilitator = settledBy && (await settledBy(state as Gateway['state']));
      return facilitator ? { facilitators: [{ name: 'own', facilitator }] } : {};
    },
  });
  t.teardown(gateway.stop);
  return gateway;
}

export function accessIn({ evm }: Gateway['state']) {
  const access = evm[NETWORK];
  if (!access) throw new Error(`${NETWORK} was not started`);
  return access;
}

export const newWallet = (at: Gateway, options = {}, factory = ALLOWED): Promise<SmartWallet> =>
  newSmartWallet({ ...accessIn(at.state), bank: at.sandbox.payer(NETWORK) }, factory, options);

/** How many transactions the gateway's signer has sent. */
export async function sentBy({ sandbox, state }: Gateway): Promise<number> {
  const { rpcUrl, caip2 } = accessIn(state);
  const account = (await sandbox.facilitators[0]?.facilitator.accounts?.(10_000))?.get(caip2);
  return createPublicClient({ transport: http(rpcUrl) }).getTransactionCount({ address: account?.address as Address });
}

/** A signer of its own behind a node that tells of each transaction it was sent, once that is in a block. */
export function ownSigner(
  t: Test,
  {
    halfPriceInGas,
    confirmationTimeoutMs = 60_000,
    onSent = async () => {},
  }: { halfPriceInGas?: bigint; confirmationTimeoutMs?: number; onSent?: (count: number) => Promise<void> },
) {
  const { address, privateKey } = newEvmWallet();
  const signer = {
    address,
    isDown: false,
    async open(state: Gateway['state']): Promise<LocalFacilitator> {
      const { rpcUrl, caip2, chainId } = accessIn(state);
      await createRpc(rpcUrl)('anvil_setBalance', [address, '0x8ac7230489e80000']);
      const { maxFeePerGas } = await createPublicClient({ transport: http(rpcUrl) }).estimateFeesPerGas();
      const nativeValue = halfPriceInGas ? (PRICE * 10n ** 18n) / (2n * halfPriceInGas * maxFeePerGas) : 0n;
      let sent = 0;
      const node = await serve(async (_, response, body) => {
        if (signer.isDown) return void response.destroy();
        const headers = { 'content-type': 'application/json' };
        const asked = await fetch(rpcUrl, { method: 'POST', headers, body }).catch(() => undefined);
        const answer = await asked?.text().catch(() => undefined);
        if (body.includes('eth_sendRawTransaction')) {
          sent += 1;
          await onSent(sent);
        }
        if (signer.isDown || answer === undefined) return void response.destroy();
        response.writeHead(200, headers).end(answer);
      });
      t.teardown(node.stop);
      const network = { caip2, chainId, rpcUrl: node.url, privateKey, nativeValue, walletFactories: [ALLOWED] };
      // What settling alone is worth is not what is tried here.
      const facilitator = localFacilitator({ evm: [network], solana: [], confirmationTimeoutMs });
      t.teardown(facilitator.close);
      return { ...facilitator, leastPrices: async () => new Map() };
    },
    sent: async ({ state }: Gateway): Promise<number> =>
      createPublicClient({ transport: http(accessIn(state).rpcUrl) }).getTransactionCount({
        address: address as Address,
      }),
  };
  return signer;
}

/** Once more, until the chain has told: a block may be later than anybody waits for it here. */
export async function sendAgain(call: PaidCall, proof: Record<string, string>): Promise<Response> {
  for (;;) {
    const answer = await sendProof(call, proof);
    if (answer.status !== 409) return answer;
  }
}

/** It is a 402 with this reason: nobody is asked for the work, nothing is sent and the wallet is not deployed. */
export async function refusesUndeployed(
  t: Test,
  at: Gateway,
  wallet: SmartWallet,
  detail: RegExp,
  proofOf: (call: PaidCall) => Promise<Record<string, string>>,
): Promise<void> {
  const call = fresh(at);
  const proof = await proofOf(call);
  const before = [await at.calls(), await sentBy(at), await wallet.balance()];
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 402);
  t.match(await answer.json(), { detail });
  t.same([await at.calls(), await sentBy(at), await wallet.balance()], before);
  t.notOk(await wallet.exists());
}
