/** A payer's own purchases, shown to who signs for its address: with the published clients of both protocols. */
import { join } from 'node:path';
import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import {
  createSIWxClientExtension,
  createSIWxPayload,
  encodeSIWxHeader,
  type SIWxExtension,
  type SIWxPayload,
  type SIWxSigner,
} from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment } from '@x402/fetch';
import t from 'tap';
import { erc20Abi, type Hex, isAddressEqual, parseEventLogs } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import type { Purchased } from '../../../src/purchases/purchases.ts';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { type Gateway as PayingGateway, payV2, receiptOf, request, sendProof } from '../../clients.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import { startGateway } from '../../gateway.ts';
import { startPostgres } from '../../postgres.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c'], tempo: true });
t.teardown(gateway.stop);

const url = `${gateway.url}/v1/purchases`;
const evmKey = gateway.state.evm['chain-c']?.privateKey ?? '0x';
const evmSigner = privateKeyToAccount(evmKey);
const solanaKey = getBase58Encoder().encode(gateway.state.solana?.secretKey ?? '');
const solanaSigner = await createKeyPairSignerFromBytes(solanaKey);
const wallet = await openEvmWallet(gateway, 'chain-c');
const EVM = wallet.caip2;
const SOLANA = gateway.state.solana?.caip2 ?? '';
/** What the package's functions take; @solana/kit's own type of it is narrower in what it signs. */
const asSigner = (signer: object): SIWxSigner => signer as SIWxSigner;

const picture = (prompt: string) => request(gateway, '/image/family-e-2', { prompt });

async function bought(payer: PayingGateway, network: string, prompt: string): Promise<string> {
  const answer = await payV2(payer, network, picture(prompt));
  t.equal(answer.status, 200, await answer.text());
  return receiptOf(answer).transaction;
}

/** The x402 client that answers the gateway's challenge by itself. */
async function listedBy(signer: object, query = ''): Promise<Purchased> {
  const client = new x402Client().registerExtension(createSIWxClientExtension({ signers: [asSigner(signer)] }));
  const answer = await wrapFetchWithPayment(fetch, client)(url + query);
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('cache-control'), 'no-store');
  return (await answer.json()) as Purchased;
}

const hadBy = (signer: object, where: string): Promise<Response> => {
  const client = new x402Client().registerExtension(createSIWxClientExtension({ signers: [asSigner(signer)] }));
  return wrapFetchWithPayment(fetch, client)(where);
};

const declaredIn = ({ extensions = {} }: PaymentRequired) => extensions['sign-in-with-x'] as SIWxExtension;

async function challenge(): Promise<SIWxExtension> {
  const answer = await fetch(url);
  return declaredIn(decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? ''));
}

/** A proof over the challenge with some of its fields changed before it is signed. */
async function signed(signer: object, changes: Partial<SIWxExtension['info']> = {}): Promise<SIWxPayload> {
  const { info, supportedChains } = await challenge();
  const isSolana = signer === solanaSigner;
  const chain = supportedChains.find(({ type }) => type === (isSolana ? 'ed25519' : 'eip191'));
  if (!chain) throw new Error('the challenge names no network of this wallet');
  const changed = { ...info, ...changes };
  return createSIWxPayload({ ...changed, ...chain }, asSigner(signer), changed.uri);
}

const ask = (header: string, query = '') => fetch(url + query, { headers: { 'SIGN-IN-WITH-X': header } });

interface Refused {
  readonly error: { readonly code: string; readonly details: readonly { path: string; expected?: string }[] };
}

/** The fields that a refusal names; each says what would be taken. */
async function refusedFields(answer: Response): Promise<string[]> {
  t.equal(answer.status, 400);
  const { error } = (await answer.json()) as Refused;
  t.equal(error.code, 'invalid_request');
  for (const { path, expected } of error.details) t.ok(expected, path);
  return error.details.map(({ path }) => path);
}

const refusedFor = async (payload: object): Promise<string[]> =>
  refusedFields(await ask(encodeSIWxHeader(payload as SIWxPayload)));

/** What the chain says that a transaction moved from the payer to the gateway, in atomic units. */
async function movedOnEvm(hash: string): Promise<bigint | undefined> {
  const { status, logs } = await wallet.reader.getTransactionReceipt({ hash: hash as Hex });
  t.equal(status, 'success');
  const transfers = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs });
  return transfers.find(({ args }) => isAddressEqual(args.from, evmSigner.address))?.args.value;
}

t.test('who shows no proof is told what to sign, in header and body, and that nothing is to be paid', async (t) => {
  const answer = await fetch(url);
  t.equal(answer.status, 402);
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.ok(answer.headers.get('request-id'));
  const told = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
  const { info, supportedChains } = declaredIn(told);
  t.match(told, { x402Version: 2, accepts: [], resource: { url } });
  t.match(info, { domain: new URL(url).host, uri: url, version: '1', nonce: /^[0-9a-f]{32}$/ });
  t.equal(Date.parse(info.expirationTime ?? '') - Date.parse(info.issuedAt), 300_000);
  t.same(
    supportedChains.toSorted((one, other) => one.chainId.localeCompare(other.chainId)),
    [
      { chainId: EVM, type: 'eip191' },
      { chainId: SOLANA, type: 'ed25519' },
    ],
  );
  t.match(await answer.json(), { status: 402, title: /.+/, detail: /nothing is to be paid/, ...told });
  t.not((await challenge()).info.nonce, info.nonce);
});

t.test('a wallet sees exactly what it bought, with amounts and transactions that the chain has', async (t) => {
  const startedAt = Date.now();
  const bySelf = [await bought(gateway, 'chain-c', 'one'), await bought(gateway, 'chain-c', 'two')];
  const onSolana = await bought(gateway, 'chain-a', 'three');
  const another = await wallet.another(1_000_000n);
  const anothers = await bought(another, 'chain-c', 'four');

  const mine = await listedBy(evmSigner);
  t.equal(mine.payer, evmSigner.address);
  t.equal(mine.next, undefined);
  t.same(
    mine.purchases.map(({ transaction }) => transaction),
    bySelf.toReversed(),
  );
  for (const purchase of mine.purchases) {
    const { boughtAt, transaction = '', answer: _, ...rest } = purchase;
    t.same(rest, {
      endpoint: 'image/family-e-2',
      path: '/image/family-e-2',
      network: EVM,
      amount: '0.06',
      asset: 'USDC',
      state: 'settled',
    });
    const at = Date.parse(boughtAt);
    t.ok(startedAt <= at && at <= Date.now(), boughtAt);
    t.equal(await movedOnEvm(transaction), 60_000n);
  }

  const theirs = await listedBy(solanaSigner);
  t.match(theirs, { payer: solanaSigner.address, purchases: [{ transaction: onSolana, network: SOLANA }] });
  t.equal(theirs.purchases.length, 1);
  const rpc = createRpc(gateway.state.solana?.rpcUrl ?? '');
  const options = { encoding: 'base64', maxSupportedTransactionVersion: 0, commitment: 'confirmed' };
  t.match(await rpc('getTransaction', [onSolana, options]), { meta: { err: null } });

  const { payer, purchases } = await listedBy(privateKeyToAccount(another.state.evm['chain-c']?.privateKey ?? '0x'));
  t.not(payer, evmSigner.address);
  t.same(
    purchases.map(({ transaction }) => transaction),
    [anothers],
  );
  const stranger = privateKeyToAccount(generatePrivateKey());
  t.same(await listedBy(stranger), { payer: stranger.address, purchases: [] });
});

t.test('what the same address bought over MPP, on Tempo too, is among it', async (t) => {
  const before = (await listedBy(evmSigner)).purchases.length;
  const networks: string[] = [];
  for (const method of ['chain-c', 'tempo']) {
    const call = request(gateway, '/mpp/image/family-e-2', { prompt: `over MPP, by ${method}` });
    const unpaid = await fetch(call.url, call.init);
    const answer = await sendProof(call, await openMppPayer(gateway.state, method).sign(unpaid));
    t.equal(answer.status, 200, await answer.text());
  }
  const { purchases } = await listedBy(evmSigner);
  t.equal(purchases.length, before + 2);
  for (const { network, path, amount, state, transaction } of purchases.slice(0, 2)) {
    networks.push(network);
    t.match(
      { path, amount, state, transaction },
      { path: '/mpp/image/family-e-2', amount: '0.06', state: 'settled', transaction: /^0x[0-9a-f]{64}$/ },
    );
  }
  t.same(networks, [`eip155:${gateway.state.tempo?.chainId}`, EVM]);
});

t.test('an answer that was paid for can be had again by the wallet that paid, and by nobody else', async (t) => {
  const calls = [
    [evmSigner, await payV2(gateway, 'chain-c', picture('had again'))],
    [solanaSigner, await payV2(gateway, 'chain-a', picture('had again on Solana'))],
  ] as const;
  for (const [signer, first] of calls) {
    const { purchases } = await listedBy(signer);
    const { answer: where = '' } = purchases[0] ?? {};
    t.ok(where.startsWith(`${url}/`));
    const upstreams = await gateway.calls();
    const again = await hadBy(signer, where);
    t.equal(again.headers.get('payment-response'), first.headers.get('payment-response'));
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.same(await again.json(), await first.json());
    t.same(await gateway.calls(), upstreams, 'nothing is paid or made again');

    const stranger = await hadBy(privateKeyToAccount(generatePrivateKey()), where);
    t.equal(stranger.status, 404, 'a stranger is told nothing');
    const forList = await fetch(where, { headers: { 'SIGN-IN-WITH-X': encodeSIWxHeader(await signed(signer)) } });
    t.same(await refusedFields(forList), ['/proof/uri'], 'a proof for the list opens no answer');
  }
  const unknown = await hadBy(evmSigner, `${url}/${encodeURIComponent('no such payment')}`);
  t.equal(unknown.status, 404);
  t.equal((await fetch(`${url}/x`, { method: 'POST' })).status, 405);
});

t.test('a name that no payment can have is nobody’s purchase, on Postgres as well', async (t) => {
  const postgres = await startPostgres();
  t.teardown(postgres.stop);
  const shared = await startGateway({ networks: ['chain-c'], environment: { DATABASE_URL: postgres.url } });
  t.teardown(shared.stop);
  for (const name of ['a\0', 'naïve', ' ', 'x'.repeat(513), 'eip3009']) {
    const answer = await hadBy(evmSigner, `${shared.url}/v1/purchases/${encodeURIComponent(name)}`);
    t.match(await answer.json(), { error: { code: 'unknown_path' } }, JSON.stringify(name.slice(0, 20)));
    t.equal(answer.status, 404);
  }
});

t.test('the list comes page by page, each purchase once', async (t) => {
  const whole = (await listedBy(evmSigner)).purchases;
  t.equal(whole.length, 5);
  const header = encodeSIWxHeader(await signed(evmSigner));
  const paged: unknown[] = [];
  const sizes: number[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const answer = await ask(header, `?limit=3${next && `&before=${next}`}`);
    const page = (await answer.json()) as Purchased;
    paged.push(...page.purchases);
    sizes.push(page.purchases.length);
    next = page.next;
  }
  t.same(sizes, [3, 2]);
  t.same(paged, whole);
  for (const limit of ['0', '101', '1.5', 'ten', '']) {
    t.same(await refusedFields(await ask(header, `?limit=${limit}`)), ['/limit'], limit);
  }
  for (const before of ['', 'x', 'a'.repeat(2_000)]) {
    t.same(await refusedFields(await ask(header, `?before=${before}`)), ['/before'], before);
  }
});

t.test('a proof shows nothing of an answer, and nothing that pays', async (t) => {
  const text = await (await ask(encodeSIWxHeader(await signed(evmSigner)))).text();
  t.notMatch(text, /image_url|fingerprint|digest|recovery|nonce|signature/i);
});

t.test('a proof is for five minutes', async (t) => {
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const { info } = await challenge();
  const old = await signed(evmSigner, { issuedAt: ago(301_000), expirationTime: ago(1_000) });
  t.same(await refusedFor(old), ['/proof/issuedAt', '/proof/expirationTime']);
  const endless = { issuedAt: ago(301_000), expirationTime: ago(-9_000_000) };
  t.same(await refusedFor(await signed(solanaSigner, endless)), ['/proof/issuedAt']);
  t.same(await refusedFor(await signed(evmSigner, { issuedAt: ago(-60_000) })), ['/proof/issuedAt']);
  t.same(await refusedFor(await signed(evmSigner, { notBefore: ago(-60_000) })), ['/proof/notBefore']);
  t.same(await refusedFor({ ...(await signed(solanaSigner)), issuedAt: 'yesterday' }), ['/proof/issuedAt']);
  // What is written over what was signed makes no old proof good.
  const { issuedAt, expirationTime } = info;
  t.same(await refusedFor({ ...old, issuedAt, expirationTime }), ['/proof/signature']);
});

t.test('a proof is for this gateway and for this list', async (t) => {
  const elsewhere = { domain: 'shop.example', uri: 'https://shop.example/v1/purchases' };
  for (const signer of [evmSigner, solanaSigner]) {
    t.same(await refusedFor(await signed(signer, elsewhere)), ['/proof/domain', '/proof/uri']);
    t.same(await refusedFor(await signed(signer, { uri: `${gateway.url}/image/family-e-2` })), ['/proof/uri']);
    t.same(await refusedFor({ ...(await signed(signer)), statement: 'Something else' }), ['/proof/signature']);
    t.same(
      await refusedFor({ ...(await signed(signer)), chainId: 'eip155:1', type: 'eip191' }).then((fields) => fields[0]),
      '/proof/chainId',
    );
    t.same(await refusedFor({ ...(await signed(signer)), version: '2' }), ['/proof/version']);
  }
});

t.test('a proof is for the address that signed it', async (t) => {
  const another = privateKeyToAccount(generatePrivateKey());
  const evm = await signed(another);
  t.same(await refusedFor({ ...evm, address: evmSigner.address }), ['/proof/signature']);
  t.same(await refusedFor({ ...evm, address: evmSigner.address.toLowerCase() }), ['/proof/signature']);
  t.same(await refusedFor({ ...evm, address: '0x12' }), ['/proof/address']);
  const solana = await signed(solanaSigner);
  t.same(await refusedFor({ ...solana, address: gateway.state.payTo['chain-a'] }), ['/proof/signature']);
  t.same(await refusedFor({ ...solana, address: evmSigner.address }), ['/proof/address']);
  const small = '11111111111111111111111111111111';
  t.same(await refusedFor({ ...solana, address: small }), ['/proof/signature'], 'a key that everybody can sign for');
  const lowerCase = { ...(await signed(evmSigner)), address: evmSigner.address.toLowerCase() };
  t.equal((await ask(encodeSIWxHeader(lowerCase))).status, 200, 'however its own address is spelt');
});

t.test('a contract wallet’s signature is refused with the reason', async (t) => {
  const proof = await signed(evmSigner);
  t.same(await refusedFor({ ...proof, signatureScheme: 'eip1271' }), ['/proof/signatureScheme']);
  t.same(await refusedFor({ ...proof, signature: `0x${'ab'.repeat(200)}` }), ['/proof/signature']);
});

t.test('what is no proof is refused, and no refusal repeats a signature', async (t) => {
  const proof = await signed(evmSigner);
  const header = encodeSIWxHeader(proof);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const twice = new Headers([
    ['sign-in-with-x', header],
    ['sign-in-with-x', header],
  ]);
  t.same(await refusedFields(await fetch(url, { headers: twice })), ['/proof']);
  for (const garbled of [
    header + header,
    header.slice(0, -9),
    base64(JSON.stringify(proof).repeat(2)),
    base64('[]'),
    base64('null'),
    'not base64!',
    'A'.repeat(8_193),
    ' ',
  ]) {
    t.same(await refusedFields(await ask(garbled)), ['/proof'], garbled.slice(0, 40));
  }
  const { domain, signature, ...rest } = proof;
  t.same(await refusedFor(rest), ['/proof/domain', '/proof/signature']);
  t.same(await refusedFor({ ...proof, nonce: 7, type: 'none' }), ['/proof/type', '/proof/nonce']);
  t.same(await refusedFor({ ...proof, statement: 'a '.repeat(600) }), ['/proof/statement']);
  t.same(await refusedFor({ ...proof, statement: 'two\nlines' }), ['/proof/signature'], 'no message has such a text');
  const wrong = await ask(encodeSIWxHeader({ ...proof, domain: 'shop.example' }));
  t.notOk((await wrong.text()).includes(signature.slice(2, 40)));
  t.equal((await ask(header)).status, 200, `it is good itself for ${domain}`);
});

t.test('a wallet in a browser may send the proof, and other methods are refused', async (t) => {
  const preflight = await fetch(url, { method: 'OPTIONS' });
  t.match(preflight.headers.get('access-control-allow-headers'), /SIGN-IN-WITH-X/);
  const posted = await fetch(url, { method: 'POST' });
  t.equal(posted.status, 405);
  t.equal(posted.headers.get('allow'), 'GET');
});

t.test('an answer that is not kept any more is gone in the words of the rail it was bought over', async (t) => {
  const call = request(gateway, '/mpp/image/family-e-2', { prompt: 'soon forgotten' });
  const unpaid = await fetch(call.url, call.init);
  t.equal((await sendProof(call, await openMppPayer(gateway.state, 'chain-c').sign(unpaid))).status, 200);
  const { purchases } = await listedBy(evmSigner);
  const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
  await store.forget({ values: 0, answers: Date.now() + 1_000, payments: undefined });
  await store.close();
  const gone = await hadBy(evmSigner, purchases[0]?.answer ?? '');
  t.equal(gone.status, 410);
  t.notOk(gone.headers.has('payment-receipt'), 'MPP has receipts on success alone');
  t.equal(gone.headers.get('cache-control'), 'no-store');
  t.equal(gone.headers.get('content-type'), 'application/problem+json');
  t.match(await gone.json(), { status: 410, error: { code: 'answer_gone' } });
});
