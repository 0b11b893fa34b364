/** A permit that the payer makes void is not paid by an older transfer of the same payer. */
import '../payment/facilitators/own-fetch.ts';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import t from 'tap';
import { createPublicClient, createWalletClient, defineChain, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type PaidCall, receiptOf, request, sendProof } from '../clients.ts';
import { startGateway } from '../gateway.ts';

const gateway = await startGateway({ networks: ['chain-c'], tempo: true });
t.teardown(gateway.stop);
const { rpcUrl, chainId, privateKey } = gateway.state.evm['chain-c'] as NonNullable<(typeof gateway.state.evm)[string]>;
const payer = privateKeyToAccount(privateKey);
const nativeCurrency = { name: 'gas', symbol: 'GAS', decimals: 18 };
const chain = defineChain({ id: chainId, name: 'local', nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
const reader = createPublicClient({ chain, transport: http(rpcUrl), pollingInterval: 20 });
const wallet = createWalletClient({ account: payer, chain, transport: http(rpcUrl) });

/** Signs with a nonce of the payer's choice. */
async function signUpto({ url, init }: PaidCall, nonce?: bigint): Promise<Record<string, string>> {
  const account =
    nonce === undefined
      ? payer
      : {
          ...payer,
          signTypedData: (typed: { message: object }) =>
            payer.signTypedData({ ...typed, message: { ...typed.message, nonce } } as never),
        };
  const client = new x402Client((_version, accepts) => accepts.filter(({ scheme }) => scheme === 'upto')[0] as never);
  const side = new x402HTTPClient(
    client.setSpendControls(false).register('eip155:*', new UptoEvmScheme(account as never)),
  );
  const unpaid = await fetch(url, init);
  const challenge = side.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  const payment = await side.createPaymentPayload(challenge);
  if (nonce !== undefined) {
    (payment.payload as { permit2Authorization: { nonce: string } }).permit2Authorization.nonce = nonce.toString();
  }
  return side.encodePaymentSignatureHeader(payment);
}

t.test('a void permit buys nothing, although its nonce can be read in an older payment', async (t) => {
  const older = request(gateway, '/llm/vendor5-k3', { prompt: 'Why?', max_tokens: 300 });
  const paid = await sendProof(older, await signUpto(older));
  t.equal(paid.status, 200);
  // Every settling call of this payer holds its address as a word.
  const nonce = BigInt(payer.address);
  const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 30_000 });
  const proof = await signUpto(call, nonce);
  const earned = await gateway.earned('chain-c');
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  const first = await sendProof(call, proof);
  t.equal(first.status, 409, await first.text());
  await reader.request({ method: 'anvil_setBalance' as never, params: [payer.address, '0xde0b6b3a7640000'] as never });
  const hash = await wallet.writeContract({
    address: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
    abi: parseAbi(['function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)']),
    functionName: 'invalidateUnorderedNonces',
    args: [nonce >> 8n, 1n << (nonce & 0xffn)],
  });
  await reader.waitForTransactionReceipt({ hash });
  const second = await sendProof(call, proof);
  t.equal(await gateway.earned('chain-c'), earned, 'nothing was paid');
  if (second.status === 200)
    t.equal(receiptOf(second).transaction, receiptOf(paid).transaction, 'receipt of the older one');
  t.not(second.status, 200, 'and nothing was sold');
});
