/** Paying through Permit2 without having approved it: the published client signs a permit, which is handed in with the payment. */
import { pino } from 'pino';
import t from 'tap';
import { type Address, encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { remoteFacilitator } from '../../../src/payment/facilitators/remote.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { type Gateway, openUptoWallet, type PaidCall, receiptOf, request, sendProof, signUpto } from '../../clients.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import { startGateway } from '../../gateway.ts';
import { callTool, receiptIn } from '../../mcp/tool-client.ts';
import { changed, decoded, offersOf, refusesBeforeWork } from '../../payment/authorizations/proofs.ts';
import { front, serve } from '../../payment/facilitators/front.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

const NETWORK = 'chain-c';
const EXTENSION = 'eip2612GasSponsoring';
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const tokenAbi = parseAbi([
  'function allowance(address owner, address spender) view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
  'function nonces(address owner) view returns (uint256)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
]);

const lines: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
// The contracts come from the Tempo chain.
const gateway = await startRelayedGateway({ networks: ['chain-a', NETWORK], tempo: true, log });
t.teardown(gateway.stop);
const sandboxWallet = await openEvmWallet(gateway, NETWORK);
const { reader } = sandboxWallet;
const access = gateway.state.evm[NETWORK];
if (!access) throw new Error(`${NETWORK} was not started`);
const token = { address: access.asset as Address, abi: tokenAbi };
const rpc = createRpc(access.rpcUrl);

const addressOf = ({ state }: Gateway): Address => privateKeyToAddress(state.evm[NETWORK]?.privateKey as Hex);
const approvedBy = (payer: Gateway): Promise<bigint> =>
  reader.readContract({ ...token, functionName: 'allowance', args: [addressOf(payer), PERMIT2] });
const balanceOf = (payer: Gateway): Promise<bigint> =>
  reader.readContract({ ...token, functionName: 'balanceOf', args: [addressOf(payer)] });
const permitsUsedBy = (payer: Gateway): Promise<bigint> =>
  reader.readContract({ ...token, functionName: 'nonces', args: [addressOf(payer)] });
const infoOf = (proof: Record<string, string>) => decoded(proof).extensions[EXTENSION]?.info ?? {};

let made = 0;
/** A request that no other test makes. */
const fresh = (maxTokens = 2000, at: Pick<Gateway, 'url' | 'state'> = gateway) => {
  made += 1;
  return request(at, '/llm/vendor5-k3', { prompt: `Why does fog scatter light? (${made})`, max_tokens: maxTokens });
};

async function extensionsOf({ url, init }: PaidCall): Promise<Record<string, { info: object; schema: object }>> {
  const header = (await fetch(url, init)).headers.get('payment-required') ?? '';
  t.ok(header.length < 8_192, 'the challenge is a header of less than 8 KB');
  return JSON.parse(Buffer.from(header, 'base64').toString()).extensions;
}

t.test('a challenge that can be paid so says so, and no other', async (t) => {
  const { [EXTENSION]: extension } = await extensionsOf(fresh());
  t.match(extension, { info: { version: '1', description: /Permit2/ }, schema: { required: ['from', 'asset'] } });
  const fixed = await extensionsOf(request(gateway, '/llm/vendor3-5.2', { prompt: 'Why?' }));
  t.notOk(EXTENSION in fixed, 'where upto is not offered');
});

t.test('who has never sent a transaction pays by upto and is charged what it used', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  t.equal(await approvedBy(payer), 0n);
  const call = fresh();
  const proof = await signUpto(payer, NETWORK, call);
  const { amount } = infoOf(proof);
  const earned = await gateway.earned(NETWORK);
  const answer = await sendProof(call, proof);
  const text = await answer.text();
  t.equal(answer.status, 200, text);
  const charged = (await gateway.earned(NETWORK)) - earned;
  t.ok(charged > 0n && charged < BigInt(amount ?? 0), 'less than the upper bound');
  t.match(receiptOf(answer), { success: true, transaction: /^0x/, amount: charged.toString() });
  t.equal(await balanceOf(payer), 1_000_000n - charged);
  t.equal(await approvedBy(payer), BigInt(amount ?? 0) - charged, 'no more was approved than was signed for');
  t.equal(await reader.getTransactionCount({ address: addressOf(payer) }), 0, 'the payer sent nothing');
  t.equal(await reader.getBalance({ address: addressOf(payer) }), 0n, 'and had no coin to send anything with');
  const { gasUsed } = await reader.getTransactionReceipt({ hash: receiptOf(answer).transaction as Hex });
  t.ok(gasUsed < 200_000n, `it takes ${gasUsed} gas`);

  t.test('the same again is answered again and charged once', async (t) => {
    const again = await sendProof(call, proof);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(await again.text(), text);
    t.equal(await balanceOf(payer), 1_000_000n - charged);
  });

  t.test('what is still approved pays the next call without a permit', async (t) => {
    const next = fresh(300);
    const second = await signUpto(payer, NETWORK, next);
    t.equal(infoOf(second).signature, undefined);
    t.equal((await sendProof(next, second)).status, 200);
    t.equal(await permitsUsedBy(payer), 1n);
  });

  t.test('and where it is not enough another permit comes along', async (t) => {
    const dearer = fresh(3000);
    const third = await signUpto(payer, NETWORK, dearer);
    t.equal(infoOf(third).nonce, '1');
    t.equal((await sendProof(dearer, third)).status, 200);
    t.equal(await permitsUsedBy(payer), 2n);
  });
});

t.test('a tool call is paid so, too', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  const [tool, input] = ['llm_vendor5-k3', { prompt: 'Why does a tool scatter light?', max_tokens: 2000 }];
  const { structuredContent } = await callTool(payer, tool, input);
  const wallet = openUptoWallet(payer, NETWORK);
  const payment = await wallet.createPaymentPayload(
    structuredContent as unknown as Parameters<typeof wallet.createPaymentPayload>[0],
  );
  const earned = await gateway.earned(NETWORK);
  const result = await callTool(payer, tool, input, { 'x402/payment': payment });
  t.match(receiptIn(result), { success: true, payer: addressOf(payer) });
  t.equal(await permitsUsedBy(payer), 1n);
  t.equal(await balanceOf(payer), 1_000_000n - ((await gateway.earned(NETWORK)) - earned));
});

t.test(
  'it is said where the price is worth a settlement with a permit, not where it is worth one without',
  async (t) => {
    const body = { prompt: 'Is it worth it?', max_tokens: 2000 };
    const { amount = '' } = infoOf(
      await signUpto(await sandboxWallet.another(1n), NETWORK, request(gateway, '/llm/vendor5-k3', body)),
    );
    for (const [tenths, isSaid] of [
      [5n, true],
      [8n, false],
    ] as const) {
      const leastPrices = async () => new Map([[access.caip2, (BigInt(amount) * tenths) / 10n]]);
      const dear = await startGateway({
        networks: [NETWORK],
        tempo: true,
        between: async ({ facilitators }) => ({
          facilitators: facilitators.map((named) => ({
            ...named,
            facilitator: { ...named.facilitator, leastPrices },
          })),
        }),
      });
      t.teardown(dear.stop);
      const call = request(dear, '/llm/vendor5-k3', body);
      t.ok((await offersOf(call)).some(({ scheme }) => scheme === 'upto'));
      t.equal(EXTENSION in (await extensionsOf(call)), isSaid);
    }
  },
);

t.test('a permit that is not what the payment needs is refused before the work', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  const stranger = privateKeyToAddress(generatePrivateKey());
  const now = Math.floor(Date.now() / 1000);
  const attacks: readonly [what: string, change: Record<string, unknown>, type: RegExp, detail: RegExp][] = [
    ['of another owner', { from: stranger }, /verification-failed$/, /permit \(EIP-2612\) is of 0x/],
    ['for another token', { asset: stranger }, /verification-failed$/, /is for the token 0x/],
    ['that approves another spender', { spender: stranger }, /verification-failed$/, /approves 0x.* is Permit2/],
    ['for less', { amount: '1' }, /verification-failed$/, /approves the amount 1, the payment is for/],
    ['for more', { amount: (2n ** 256n - 1n).toString() }, /verification-failed$/, /approves the amount/],
    ['that has expired', { deadline: String(now - 1) }, /payment-expired$/, /ends before the work/],
    ['that ends before the work may', { deadline: String(now + 30) }, /payment-expired$/, /ends before the work/],
    [
      'under another deadline than was signed',
      { deadline: String(now + 3600) },
      /verification-failed$/,
      /not approved Permit2/,
    ],
    [
      'under a signature of somebody',
      { signature: `0x${'11'.repeat(64)}1b` },
      /verification-failed$/,
      /not approved Permit2/,
    ],
    [
      'under a signature that is too short',
      { signature: '0x11' },
      /malformed-credential$/,
      /info\.signature must be 65 bytes/,
    ],
    ['under a signature that is too long', { signature: `0x${'11'.repeat(66)}` }, /malformed-credential$/, /65 bytes/],
    ['without a nonce', { nonce: undefined }, /malformed-credential$/, /info\.nonce must be a whole number/],
    ['with an amount that no word holds', { amount: '9'.repeat(78) }, /malformed-credential$/, /256 bits/],
    ['of another version', { version: '2' }, /malformed-credential$/, /info\.version must be "1"/],
  ];
  for (const [what, change, type, detail] of attacks) {
    await t.test(what, async (t) => {
      const call = fresh();
      const proof = changed(await signUpto(payer, NETWORK, call), ({ extensions }) => {
        Object.assign(extensions[EXTENSION]?.info ?? {}, change);
      });
      await refusesBeforeWork(t, gateway, NETWORK, { call, proof, type, detail });
    });
  }
  t.test('none at all', async (t) => {
    const call = fresh();
    const proof = changed(await signUpto(payer, NETWORK, call), ({ extensions }) => {
      delete extensions[EXTENSION];
    });
    const [type, detail] = [/verification-failed$/, /not approved Permit2/];
    await refusesBeforeWork(t, gateway, NETWORK, { call, proof, type, detail });
  });
  t.equal(await balanceOf(payer), 1_000_000n);
  t.equal(await permitsUsedBy(payer), 0n);
});

/** Hands the permit to the token before the gateway does, as anybody can who has seen it. */
async function handIn(proof: Record<string, string>): Promise<void> {
  const { from, spender, amount = '0', deadline = '0', signature } = infoOf(proof);
  const { r, s, v } = parseSignature(signature as Hex);
  const args = [from as Address, spender as Address, BigInt(amount), BigInt(deadline), Number(v), r, s] as const;
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'permit', args });
  await actAs(rpc, gateway.sandbox.payer(NETWORK), [{ to: token.address, data }]);
}

t.test('a permit that somebody handed in before pays all the same', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  const call = fresh();
  const proof = await signUpto(payer, NETWORK, call);
  await handIn(proof);
  t.equal(await permitsUsedBy(payer), 1n);
  t.equal((await sendProof(call, proof)).status, 200);
});

t.test('a permit that was used for another payment is refused before the work', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  const [first, second] = [fresh(), fresh()];
  const [paid, late] = [await signUpto(payer, NETWORK, first), await signUpto(payer, NETWORK, second)];
  t.equal((await sendProof(first, paid)).status, 200);
  const [type, detail] = [/verification-failed$/, /not approved Permit2/];
  await refusesBeforeWork(t, gateway, NETWORK, { call: second, proof: late, type, detail });
});

t.test(
  'while a payment under a permit is worked for, no other is taken that would need what it approves',
  async (t) => {
    const payer = await sandboxWallet.another(1_000_000n);
    const [first, second] = [fresh(), fresh()];
    const [held, other] = [await signUpto(payer, NETWORK, first), await signUpto(payer, NETWORK, second)];
    const hold = gateway.upstreams.gate.holdNext();
    const answering = sendProof(first, held);
    await hold.reached;
    const before = await gateway.calls();
    const refused = await sendProof(second, other);
    t.equal(refused.status, 402);
    t.match(await refused.json(), { type: /payment-insufficient$/, detail: /under way: wait for them/ });
    t.same(await gateway.calls(), before);
    hold.release();
    t.equal((await answering).status, 200);
  },
);

t.test('nor one that counts on what was approved before', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  const call = fresh(1000);
  const proof = await signUpto(payer, NETWORK, call);
  await handIn(proof);
  const calls = [fresh(900), fresh(900)];
  const [held, other] = await Promise.all(calls.map((each) => signUpto(payer, NETWORK, each)));
  t.equal(infoOf(held ?? {}).signature, undefined);
  const hold = gateway.upstreams.gate.holdNext();
  const answering = sendProof(calls[0] ?? call, held ?? {});
  await hold.reached;
  t.match(await (await sendProof(calls[1] ?? call, other ?? {})).json(), { type: /payment-insufficient$/ });
  hold.release();
  t.equal((await answering).status, 200);
});

t.test('a failed call takes nothing, approves nothing, and the same payment buys the next one', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  const call = fresh();
  const proof = await signUpto(payer, NETWORK, call);
  await gateway.fault({ upstream: 'chat', fault: '500' });
  t.equal((await sendProof(call, proof)).status, 500);
  t.equal(await approvedBy(payer), 0n);
  t.equal((await sendProof(call, proof)).status, 200);
});

t.test('a lost settlement is found on the chain, with what it took', async (t) => {
  const payer = await sandboxWallet.another(1_000_000n);
  const call = fresh();
  const proof = await signUpto(payer, NETWORK, call);
  await gateway.fault({ settlement: NETWORK, fault: 'unknown' });
  const earned = await gateway.earned(NETWORK);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  t.match(receiptOf(answer), { amount: ((await gateway.earned(NETWORK)) - earned).toString() });
});

t.test('a facilitator of somebody else is handed no permit, and nobody is asked for one', async (t) => {
  const asked: string[] = [];
  const remote = await startGateway({
    networks: [NETWORK],
    tempo: true,
    between: async ({ facilitators }) => {
      const [own] = facilitators;
      if (!own) throw new Error('the sandbox has no facilitator');
      const answer = front(own.facilitator);
      const server = await serve((message, response, body) => {
        asked.push(body);
        answer(message, response, body);
      });
      t.teardown(server.stop);
      return { facilitators: [{ name: 'remote', facilitator: remoteFacilitator({ url: server.url }) }] };
    },
  });
  t.teardown(remote.stop);
  const call = fresh(2000, remote);
  const extensions = await extensionsOf(call);
  t.notOk(EXTENSION in extensions);
  const payer = await (await openEvmWallet(remote, NETWORK)).another(1_000_000n);
  const proof = changed(await signUpto(payer, NETWORK, call), ({ payload, extensions: sent }) => {
    const { from = '', permitted, deadline = '' } = payload.permit2Authorization ?? {};
    const { token: asset, amount } = permitted as unknown as { token: string; amount: string };
    const signature = `0x${'11'.repeat(65)}`;
    const info = { from, asset, amount, spender: PERMIT2, nonce: '0', deadline, signature, version: '1' };
    Object.assign(sent, { [EXTENSION]: { info } });
  });
  const [type, detail] = [/verification-failed$/, /not approved Permit2/];
  await refusesBeforeWork(t, remote, NETWORK, { call, proof, type, detail });
  t.ok(asked.some((body) => body.includes('permit2Authorization')));
  t.notOk(asked.some((body) => body.includes(EXTENSION)));
});

t.test('no line of the log has a signature in it', async (t) => {
  t.ok(
    lines.some((line) => line.includes('llm/vendor5-k3')),
    'the calls are in it',
  );
  t.notOk(lines.some((line) => /[0-9a-f]{120}/i.test(line)));
});
