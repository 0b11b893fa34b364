/** Wallets that do not exist yet (ERC-6492) lock money before the work, and deposit it: deployed before they do. */
import t from 'tap';
import { type Hex, serializeErc6492Signature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { toldOf } from '../../channels.ts';
import { type PaidCall, receiptOf, sendProof } from '../../clients.ts';
import {
  ALLOWED,
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
import { openEvmWallet } from '../../evm-wallet.ts';
import { changed } from '../../payment/authorizations/proofs.ts';
import { fresh } from '../../settling-first.ts';
import { type SmartWallet, signProofBy } from '../../smart-wallets.ts';

const FILLED = 1_000_000n;
const exposure = '{ hold: true, channels: true, settleUpfront: { above: "0.01" } }';
const gateway = await startDeploying(t, [ALLOWED], { exposure });

type Parts = { address: Hex; data: Hex; signature: Hex };

type Ahead = 'auth-capture' | 'batch-settlement';

interface Case {
  readonly scheme: Ahead;
  /** The money's own signature in a payment, and where it stands. */
  put(payload: { signature?: unknown; deposit?: unknown }, signature: Hex): void;
  /** What is said where its money is not to be had. */
  readonly poor: RegExp;
  readonly refused: RegExp;
}

const CASES: readonly Case[] = [
  {
    scheme: 'auth-capture',
    put: (payload, signature) => {
      payload.signature = signature;
    },
    poor: /the payment was refused: /,
    refused: /the payment was not locked: /,
  },
  {
    scheme: 'batch-settlement',
    put: (payload, signature) => {
      const deposit = payload.deposit as { authorization: { erc3009Authorization: { signature: Hex } } };
      deposit.authorization.erc3009Authorization.signature = signature;
    },
    poor: /the deposit was refused: /,
    refused: /the deposit was not made: /,
  },
];

const signNew = (wallet: SmartWallet, call: PaidCall, scheme: Ahead) => signProofBy(wallet, wallet.wrap, call, scheme);

t.test('a wallet that does not exist locks what it pays, and exists from then on', async (t) => {
  const wallet = await newWallet(gateway);
  const call = fresh(gateway);
  const proof = await signNew(wallet, call, 'auth-capture');
  const [earned, sent] = [await gateway.earned(NETWORK), await sentBy(gateway)];
  const answer = await sendProof(call, proof);
  const text = await answer.text();
  t.equal(answer.status, 200, text);
  t.match(receiptOf(answer), { success: true, transaction: /^0x/ });
  t.ok(await wallet.exists());
  t.equal(await wallet.balance(), FILLED - PRICE);
  t.equal((await gateway.earned(NETWORK)) - earned, PRICE);
  t.equal((await sentBy(gateway)) - sent, 3, 'one transaction deploys it, one locks and one takes the money');

  await t.test('the same again is answered again, and so is what the wallet itself signed', async (t) => {
    t.equal((await sendProof(call, proof)).headers.get('idempotency-replayed'), 'true');
    const bare = changed(proof, ({ payload }) => {
      payload.signature = unwrapped(payload.signature as Hex);
    });
    t.equal((await sendProof(call, bare)).headers.get('idempotency-replayed'), 'true');
    t.equal(await wallet.balance(), FILLED - PRICE);
    t.equal((await sentBy(gateway)) - sent, 3);
  });

  await t.test('it locks the next with what it signs, and with what would deploy it', async (t) => {
    for (const sign of [wallet.sign, wallet.wrap]) {
      const next = fresh(gateway);
      t.equal((await sendProof(next, await signProofBy(wallet, sign, next, 'auth-capture'))).status, 200);
    }
    t.equal(await wallet.balance(), FILLED - 3n * PRICE);
    t.equal((await sentBy(gateway)) - sent, 7);
  });
});

/** What the wallet itself signed. */
function unwrapped(signature: Hex): Hex {
  const body = signature.slice(2);
  const start = Number(`0x${body.slice(128, 192)}`) * 2;
  const length = Number(`0x${body.slice(start, start + 64)}`) * 2;
  return `0x${body.slice(start + 64, start + 64 + length)}`;
}

for (const scheme of ['exact', 'auth-capture', 'batch-settlement'] as const) {
  t.test(
    `who pays by a key and says that a factory deploys its wallet has no factory called (${scheme})`,
    async (t) => {
      const payer = privateKeyToAccount(generatePrivateKey());
      const bank = await openEvmWallet(gateway, NETWORK);
      await bank.send(await bank.sign({ value: 10_000_000n, to: payer.address }));
      const wanted = await newWallet(gateway, { value: 0n });
      const wrap: SmartWallet['sign'] = async (message) =>
        serializeErc6492Signature({
          address: ALLOWED,
          data: wanted.calldata,
          signature: await payer.signTypedData(message as Parameters<typeof payer.signTypedData>[0]),
        });
      const proofOf = (call: PaidCall) => signProofBy({ address: payer.address }, wrap, call, scheme);
      await refusesUndeployed(t, gateway, wanted, /what the factory deploys is not the wallet that pays/, proofOf);
    },
  );
}

t.test('what it locked is given back where the work fails', async (t) => {
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  const wallet = await newWallet(gateway);
  const call = fresh(gateway);
  const answer = await sendProof(call, await signNew(wallet, call, 'auth-capture'));
  t.equal(answer.status, 500);
  t.ok(await wallet.exists());
  t.equal(await wallet.balance(), FILLED);
});

t.test('a wallet that does not exist deposits, and its calls are drawn from that', async (t) => {
  const wallet = await newWallet(gateway, { value: 10_000_000n });
  const call = fresh(gateway);
  const proof = await signNew(wallet, call, 'batch-settlement');
  const sent = await sentBy(gateway);
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200, await answer.text());
  const { amount, extra } = toldOf(answer);
  t.equal(extra.chargedAmount, PRICE.toString());
  t.ok(await wallet.exists());
  t.equal(await wallet.balance(), 10_000_000n - BigInt(amount));
  t.equal((await sentBy(gateway)) - sent, 2, 'one transaction deploys it, one deposits');
  t.equal((await sendProof(call, proof)).headers.get('idempotency-replayed'), 'true');
  t.equal((await sentBy(gateway)) - sent, 2);
});

for (const { scheme, put, poor, refused } of CASES) {
  t.test(`by ${scheme} nothing is deployed for what would not pay`, async (t) => {
    const rewrapped =
      (wallet: SmartWallet, change: { address?: string; data?: Hex; signature?: Hex }) => async (call: PaidCall) => {
        const bare = `0x00${'11'.repeat(64)}1b`;
        const parts = { address: ALLOWED, data: wallet.calldata, signature: bare, ...change } as Parts;
        return changed(await signProofBy(wallet, wallet.sign, call, scheme), ({ payload }) =>
          put(payload, serializeErc6492Signature(parts)),
        );
      };
    const stranger = await newWallet(gateway, { value: 10_000_000n }, OTHER);
    const poorOne = await newWallet(gateway, { value: 1n });
    const rich = await newWallet(gateway, { value: 10_000_000n });
    const another = await newWallet(gateway);
    const generous = await newWallet(gateway, { value: 10_000_000n, temper: 'generous' });
    const cases: readonly [string, SmartWallet, RegExp, (call: PaidCall) => Promise<Record<string, string>>][] = [
      [
        'of another factory',
        stranger,
        new RegExp(`of the factory ${OTHER}`),
        (call) => signNew(stranger, call, scheme),
      ],
      ['with too little', poorOne, poor, (call) => signNew(poorOne, call, scheme)],
      ['that did not sign', rich, poor, rewrapped(rich, {})],
      ['of which the factory deploys another', rich, poor, rewrapped(rich, { data: another.calldata })],
      ['that the factory does not deploy', rich, /does not deploy/, rewrapped(rich, { data: '0x12345678' })],
      ['that gives its money away as it comes to be', generous, poor, (call) => signNew(generous, call, scheme)],
    ];
    for (const [what, wallet, detail, proofOf] of cases) {
      await t.test(`a wallet ${what}`, (t) => refusesUndeployed(t, gateway, wallet, detail, proofOf));
    }
    await t.test('what cannot be read is refused by the field’s name', async (t) => {
      const cut = async (call: PaidCall) =>
        changed(await signProofBy(rich, rich.sign, call, scheme), ({ payload }) =>
          put(payload, `0x${'00'.repeat(96)}${'6492'.repeat(16)}`),
        );
      await refusesUndeployed(t, gateway, rich, /signature must be a factory, .* as ERC-6492/, cut);
    });
    t.notOk(await another.exists());
  });

  t.test(`by ${scheme}, money that is moved away behind the deployment costs that one, and counts`, async (t) => {
    let wallet: SmartWallet | undefined;
    const signer = ownSigner(t, {
      onSent: async (count) => {
        if (count === 1) await wallet?.empty();
      },
    });
    const limits = '{ payer: { wastedPerHour: 1 } }';
    const fooled = await startDeploying(t, [], { exposure, limits, settledBy: signer.open });
    wallet = await newWallet(fooled, { value: 10_000_000n });
    const call = fresh(fooled);
    const { upstreams } = await fooled.calls();
    const answer = await sendProof(call, await signNew(wallet, call, scheme));
    t.equal(answer.status, 402);
    t.match(await answer.json(), { detail: refused });
    t.ok(await wallet.exists());
    t.equal(await signer.sent(fooled), 1);
    t.same((await fooled.calls()).upstreams, upstreams, 'nobody has worked for it');
    await wallet.fill(10_000_000n);
    const next = fresh(fooled);
    t.equal(
      (await sendProof(next, await signNew(wallet, next, scheme))).status,
      429,
      'its payer has wasted what it may',
    );
    t.equal(await signer.sent(fooled), 1);
  });

  t.test(`by ${scheme}, what broke off behind the deployment goes on from there`, async (t) => {
    const signer = ownSigner(t, {
      confirmationTimeoutMs: 2_000,
      onSent: async (count) => {
        signer.isDown = count === 1;
      },
    });
    const cut = await startDeploying(t, [], { exposure, settledBy: signer.open });
    const wallet = await newWallet(cut, { value: 10_000_000n });
    const call = fresh(cut);
    const proof = await signNew(wallet, call, scheme);
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 409, await answer.text());
    t.ok(await wallet.exists());
    t.equal(await wallet.balance(), 10_000_000n);
    signer.isDown = false;
    t.equal((await sendAgain(call, proof)).status, 200);
    t.ok((await wallet.balance()) < 10_000_000n);
    t.equal(await signer.sent(cut), scheme === 'auth-capture' ? 3 : 2, 'it was deployed once');
  });

  t.test(
    `by ${scheme}, so many wallets that did not pay are deployed in an hour, and those that paid do not count`,
    async (t) => {
      const at = await startDeploying(t, [ALLOWED], { exposure });
      const wastes = async () => {
        const wallet = await newWallet(at, { value: 10_000_000n, temper: 'fickle' });
        const call = fresh(at);
        const answer = await sendProof(call, await signNew(wallet, call, scheme));
        t.match(await answer.json(), { detail: refused });
      };
      for (let made = 0; made < 19; made += 1) await wastes();
      for (let made = 0; made < 2; made += 1) {
        const wallet = await newWallet(at, { value: 10_000_000n });
        const call = fresh(at);
        t.equal((await sendProof(call, await signNew(wallet, call, scheme))).status, 200);
      }
      await wastes();
      const last = await newWallet(at, { value: 10_000_000n });
      const tooMany = /too many wallets were deployed here that did not pay/;
      await refusesUndeployed(t, at, last, tooMany, (call) => signNew(last, call, scheme));
    },
  );

  t.test(`by ${scheme}, a wallet has not paid whose calls come to nothing, though its money was there`, async (t) => {
    const at = await startDeploying(t, [ALLOWED], { exposure });
    await at.fault({ upstream: 'predictions', fault: '500', count: 20 });
    for (let made = 0; made < 20; made += 1) {
      const wallet = await newWallet(at, { value: 10_000_000n });
      const call = fresh(at);
      t.equal((await sendProof(call, await signNew(wallet, call, scheme))).status, 500);
      t.ok(await wallet.exists());
    }
    const last = await newWallet(at, { value: 10_000_000n });
    const tooMany = /too many wallets were deployed here that did not pay/;
    await refusesUndeployed(t, at, last, tooMany, (call) => signNew(last, call, scheme));
  });
}
