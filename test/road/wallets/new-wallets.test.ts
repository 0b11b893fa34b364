/** Payers whose wallet does not exist yet (ERC-6492): deployed before it pays where the operator allows its factory. */
import { evm, Mppx } from 'mppx/client';
import t, { type Test } from 'tap';
import { type Address, type Hex, parseErc6492Signature, serializeErc6492Signature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type PaidCall, receiptOf, sendProof } from '../../clients.ts';
import {
  ABSENT,
  ALLOWED,
  accessIn,
  lines,
  NETWORK,
  newWallet,
  OTHER,
  ownSigner,
  PRICE,
  refusesUndeployed,
  sendAgain,
  sentBy,
  startDeploying,
} from '../../deploying-gateway.ts';
import type { Gateway } from '../../gateway.ts';
import { changed, decoded } from '../../payment/authorizations/proofs.ts';
import { fresh, kindOf } from '../../settling-first.ts';
import { type SmartWallet, signProofBy } from '../../smart-wallets.ts';

const gateway = await startDeploying(t, [ALLOWED, ABSENT]);

const signNew = (wallet: SmartWallet, call: PaidCall) => signProofBy(wallet, wallet.wrap, call);

const refuses = (t: Test, at: Gateway, wallet: SmartWallet, detail: RegExp, proofOf = signNew) =>
  refusesUndeployed(t, at, wallet, detail, (call) => proofOf(wallet, call));

/** The proof with another factory, or another call of it. */
const rewrapped =
  (change: { address?: string; data?: Hex; signature?: Hex }) => async (wallet: SmartWallet, call: PaidCall) => {
    const signature = decoded(await signProofBy(wallet, wallet.sign, call)).payload.signature as Hex;
    const parts = { address: ALLOWED as Address, data: wallet.calldata, signature, ...(change as object) };
    return changed(await signProofBy(wallet, wallet.sign, call), ({ payload }) => {
      payload.signature = serializeErc6492Signature(parts);
    });
  };

t.test('a wallet that does not exist pays, and exists from then on', async (t) => {
  const wallet = await newWallet(gateway);
  t.notOk(await wallet.exists());
  const call = fresh(gateway);
  const proof = await signNew(wallet, call);
  const [earned, sent] = [await gateway.earned(NETWORK), await sentBy(gateway)];
  const answer = await sendProof(call, proof);
  const text = await answer.text();
  t.equal(answer.status, 200, text);
  t.match(receiptOf(answer), { success: true, transaction: /^0x/ });
  t.ok(await wallet.exists());
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
  t.equal((await gateway.earned(NETWORK)) - earned, PRICE);
  t.equal((await sentBy(gateway)) - sent, 2, 'one transaction deploys it, one moves the money');

  await t.test('the same again is answered again, charged once and deploys nothing', async (t) => {
    const again = await sendProof(call, proof);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(await again.text(), text);
    t.equal(await wallet.balance(), 1_000_000n - PRICE);
    t.equal((await sentBy(gateway)) - sent, 2);
  });

  await t.test('and so is the payment as the wallet itself signed it, for it is the same', async (t) => {
    const { signature } = unwrapped(proof);
    const bare = changed(proof, ({ payload }) => {
      payload.signature = signature;
    });
    const again = await sendProof(call, bare);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(await wallet.balance(), 1_000_000n - PRICE);
  });

  await t.test('it pays the next call with what it signs, and with what would deploy it', async (t) => {
    const [bare, wrapped] = [fresh(gateway), fresh(gateway)];
    t.equal((await sendProof(bare, await signProofBy(wallet, wallet.sign, bare))).status, 200);
    t.equal((await sendProof(wrapped, await signNew(wallet, wrapped))).status, 200);
    t.equal(await wallet.balance(), 1_000_000n - 3n * PRICE);
    t.equal((await sentBy(gateway)) - sent, 4);
  });
});

const unwrapped = (proof: Record<string, string>): { signature: Hex } =>
  parseErc6492Signature(decoded(proof).payload.signature as Hex) as { signature: Hex };

t.test('version 1 of the protocol pays so, too', async (t) => {
  const wallet = await newWallet(gateway);
  const call = fresh(gateway);
  const { payload } = decoded(await signNew(wallet, call));
  const payment = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload };
  const answer = await sendProof(call, { 'x-payment': Buffer.from(JSON.stringify(payment)).toString('base64') });
  t.equal(answer.status, 200, await answer.text());
  t.ok(await wallet.exists());
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
});

t.test('MPP is paid so, too', async (t) => {
  const wallet = await newWallet(gateway);
  const { name, version, decimals } = accessIn(gateway.state);
  const key = privateKeyToAccount(generatePrivateKey());
  const account = { ...key, address: wallet.address, signTypedData: wallet.wrap as typeof key.signTypedData };
  const payer = Mppx.create({
    polyfill: false,
    methods: [evm({ account, authorization: { name, version }, decimals })],
  });
  const call = fresh(gateway, '/mpp');
  const proof = { authorization: await payer.createCredential(await fetch(call.url, call.init)) };
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200, await answer.text());
  t.ok(await wallet.exists());
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
  t.equal((await sendProof(call, proof)).headers.get('idempotency-replayed'), 'true');
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
});

t.test('two payments of a new wallet at once deploy it once', async (t) => {
  const wallet = await newWallet(gateway);
  const sent = await sentBy(gateway);
  const calls = [fresh(gateway), fresh(gateway)];
  const proofs = await Promise.all(calls.map((call) => signNew(wallet, call)));
  const answers = await Promise.all(calls.map((call, at) => sendProof(call, proofs[at] ?? {})));
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.equal(await wallet.balance(), 1_000_000n - 2n * PRICE);
  t.equal((await sentBy(gateway)) - sent, 3);
});

t.test('the same payment twice at once is charged once', async (t) => {
  const wallet = await newWallet(gateway);
  const sent = await sentBy(gateway);
  const call = fresh(gateway);
  const proof = await signNew(wallet, call);
  const answers = await Promise.all([sendProof(call, proof), sendProof(call, proof)]);
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
  t.equal((await sentBy(gateway)) - sent, 2);
});

t.test('a factory that is not allowed is not called, and those that are allowed are named', async (t) => {
  const allowed = new RegExp(`does not exist on the chain, and is of the factory ${OTHER}: those of ${ALLOWED} are`);
  await refuses(t, gateway, await newWallet(gateway, {}, OTHER), allowed);
  await refuses(
    t,
    gateway,
    await newWallet(gateway),
    new RegExp(`factory ${ABSENT}: `),
    rewrapped({ address: ABSENT }),
  );
  const { asset } = accessIn(gateway.state);
  await refuses(t, gateway, await newWallet(gateway), /of the factory 0x/, rewrapped({ address: asset }));
});

t.test('the log says which of the allowed factories is not there', async (t) => {
  t.ok(lines.some((line) => line.includes(`no wallets of ${ABSENT} are deployed: there is no contract`)));
});

const SOMEBODYS = `0x00${'11'.repeat(64)}1b` as const;

t.test('what would not pay is not deployed', async (t) => {
  const another = await newWallet(gateway);
  const cases: readonly [what: string, wallet: SmartWallet, detail: RegExp, proofOf?: typeof signNew][] = [
    [
      'a signature of somebody else',
      await newWallet(gateway),
      /signature is not the payer/,
      rewrapped({ signature: SOMEBODYS }),
    ],
    ['a balance that is too low', await newWallet(gateway, { value: PRICE - 1n }), /too few tokens/],
    [
      'another wallet than the payer',
      await newWallet(gateway),
      /not the wallet that pays/,
      rewrapped({ data: another.calldata }),
    ],
    [
      'a call that the factory does not know',
      await newWallet(gateway),
      /does not deploy/,
      rewrapped({ data: '0x12345678' }),
    ],
    [
      'a wallet that gives its money away as it comes to be',
      await newWallet(gateway, { temper: 'generous' }),
      /too few tokens/,
    ],
    [
      'a wallet that takes too much gas',
      await newWallet(gateway, { temper: 'dear' }),
      /does not deploy the wallet that pays within 500000 gas/,
    ],
  ];
  for (const [what, wallet, detail, proofOf] of cases) {
    await t.test(what, (t) => refuses(t, gateway, wallet, detail, proofOf));
  }
  t.notOk(await another.exists());
});

t.test('a signature that is no ERC-6492 is refused by the field’s name', async (t) => {
  const suffix = '6492'.repeat(16);
  const nested = rewrapped({
    signature: serializeErc6492Signature({ address: ALLOWED, data: '0x12', signature: SOMEBODYS }),
  });
  const cut = async (wallet: SmartWallet, call: PaidCall) =>
    changed(await signNew(wallet, call), ({ payload }) => {
      payload.signature = `0x${'00'.repeat(96)}${suffix}`;
    });
  const bare = async (wallet: SmartWallet, call: PaidCall) =>
    changed(await signNew(wallet, call), ({ payload }) => {
      payload.signature = `0x${suffix}`;
    });
  for (const proofOf of [nested, cut, bare]) {
    const call = fresh(gateway);
    const answer = await sendProof(call, await proofOf(await newWallet(gateway), call));
    t.equal(answer.status, 402);
    t.equal(await kindOf(answer), 'malformed-credential');
    t.match(await answer.json(), { detail: /payload\.signature must be a factory, .* as ERC-6492/ });
  }
});

t.test('a call of the factory that is longer than a payment may be is refused before it is read', async (t) => {
  const call = fresh(gateway);
  const proof = await rewrapped({ data: `0x${'11'.repeat(3_000)}` })(await newWallet(gateway), call);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 402);
  t.match(await answer.json(), { detail: /longer than 12288 bytes/ });
  const long = await rewrapped({ data: `0x${'11'.repeat(100_000)}` })(await newWallet(gateway), call);
  t.equal((await sendProof(call, long)).status, 431);
});

t.test('a wallet that takes nothing for signed once it exists costs one deployment, which counts', async (t) => {
  const limited = await startDeploying(t, [ALLOWED]);
  const wallet = await newWallet(limited, { temper: 'fickle' });
  const [sent, calls] = [await sentBy(limited), await limited.calls()];
  const call = fresh(limited);
  const answer = await sendProof(call, await signNew(wallet, call));
  t.equal(answer.status, 402);
  t.match(await answer.json(), { type: /verification-failed$/, detail: /not settled/ });
  t.equal((await sentBy(limited)) - sent, 1);
  t.ok(await wallet.exists());
  t.same(await limited.calls(), calls, 'nobody has worked for it');
  const next = fresh(limited);
  t.equal((await sendProof(next, await signNew(wallet, next))).status, 402, 'by now the chain says so');
  t.equal((await sentBy(limited)) - sent, 1);

  await t.test('so many that do not pay are deployed in an hour, whosever they are', async (t) => {
    for (let made = 1; made < 20; made += 1) {
      const more = fresh(limited);
      const proof = await signNew(await newWallet(limited, { temper: 'fickle' }), more);
      t.match(await (await sendProof(more, proof)).json(), { detail: /not settled/ });
    }
    t.equal((await sentBy(limited)) - sent, 20);
    await refuses(t, limited, await newWallet(limited), /too many wallets were deployed here that did not pay/);
    const ready = await newWallet(limited);
    await ready.deploy();
    const last = fresh(limited);
    t.equal((await sendProof(last, await signNew(ready, last))).status, 200, 'who exists pays as ever');
  });
});

t.test('money that is moved away behind the deployment costs that one, counts, and nobody has worked', async (t) => {
  let wallet: SmartWallet | undefined;
  const signer = ownSigner(t, {
    onSent: async (count) => {
      if (count === 1) await wallet?.empty();
    },
  });
  const fooled = await startDeploying(t, [], { limits: '{ payer: { wastedPerHour: 1 } }', settledBy: signer.open });
  wallet = await newWallet(fooled);
  const call = fresh(fooled);
  const proof = await signNew(wallet, call);
  const calls = await fooled.calls();
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 402);
  t.match(await answer.json(), { type: /verification-failed$/, detail: /not settled: the payer has too few tokens/ });
  t.equal(await signer.sent(fooled), 1);
  t.same((await fooled.calls()).upstreams, calls.upstreams);
  await wallet.fill(1_000_000n);
  const next = fresh(fooled);
  t.equal((await sendProof(next, await signNew(wallet, next))).status, 429, 'its payer has wasted what it may');
  t.equal((await sendProof(call, proof)).status, 402, 'and the payment itself is over');
  t.equal(await signer.sent(fooled), 1);
});

t.test('a settlement that broke off behind the deployment goes on from there', async (t) => {
  const signer = ownSigner(t, {
    confirmationTimeoutMs: 2_000,
    onSent: async (count) => {
      signer.isDown = count === 1;
    },
  });
  const cut = await startDeploying(t, [], { settledBy: signer.open });
  const wallet = await newWallet(cut);
  const call = fresh(cut);
  const proof = await signNew(wallet, call);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 409, await answer.text());
  t.ok(await wallet.exists());
  t.equal(await wallet.balance(), 1_000_000n);
  signer.isDown = false;
  t.equal((await sendAgain(call, proof)).status, 200);
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
  t.equal(await signer.sent(cut), 2, 'it was deployed once');
});

t.test('a price that is worth a settlement and not the deployment is refused with the least that is', async (t) => {
  // More than a settlement takes, and less than both.
  const signer = ownSigner(t, { halfPriceInGas: 150_000n });
  const dear = await startDeploying(t, [], { settledBy: signer.open });
  const wallet = await newWallet(dear);
  const detail = /deploying the wallet and settling costs more than half the price: that has to be \d+ atomic units/;
  await refuses(t, dear, wallet, detail);
  t.equal(await signer.sent(dear), 0);
  await wallet.deploy();
  const call = fresh(dear);
  t.equal((await sendProof(call, await signNew(wallet, call))).status, 200);
});

t.test('it settles first although other contracts need not', async (t) => {
  const lenient = await startDeploying(t, [ALLOWED], { exposure: '{ settleUpfront: { contracts: false } }' });
  await lenient.fault({ upstream: 'predictions', fault: '500' });
  const wallet = await newWallet(lenient);
  const call = fresh(lenient);
  const proof = await signNew(wallet, call);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 500);
  t.match(await answer.json(), { error: { code: 'result_owed' } });
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
  t.equal((await sendProof(call, proof)).status, 200, 'and what is owed is had with the same payment');
  t.equal(await wallet.balance(), 1_000_000n - PRICE);
});

t.test('where no factory is allowed none is called, and the refusal says so', async (t) => {
  const strict = await startDeploying(t, []);
  await refuses(t, strict, await newWallet(strict), new RegExp(`factory ${ALLOWED}: none is deployed here`));
});

t.test('no line of the log has a signature in it', async (t) => {
  t.notOk(lines.some((line) => /[0-9a-f]{120}/i.test(line)));
});
