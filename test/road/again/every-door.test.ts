/** The road's promises, the same at every door and on every rail. */
import t from 'tap';
import { startGateway } from '../../gateway.ts';
import { type Door, httpDoor, mcpDoor, type Way } from '../doors.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c'], tempo: true });
t.teardown(gateway.stop);

const PATH = '/image/family-e-2';
const PRICES = { '1k': 60_000n, '4k': 150_000n };
const ways: readonly Way[] = [
  { rail: 'x402', network: 'chain-c' },
  { rail: 'x402', network: 'chain-a' },
  { rail: 'mpp', network: 'tempo' },
  { rail: 'mpp', network: 'chain-c' },
];

let made = 0;
/** A request that nobody made before. */
function fresh(): { prompt: string; resolution: string } {
  made += 1;
  return { prompt: `a lighthouse, number ${made}`, resolution: '1k' };
}

/** What happened to the money and at the provider while the work was done. */
async function during<Result>(network: string, work: () => Promise<Result>) {
  const [before, earned] = [await gateway.calls(), await gateway.earned(network)];
  const result = await work();
  const after = await gateway.calls();
  return {
    result,
    earned: (await gateway.earned(network)) - earned,
    worked: after.upstreamCalls - before.upstreamCalls,
  };
}

function promises(door: Door, way: Way): void {
  const { network } = way;
  const at = `${door.name}, ${way.rail} on ${network}`;

  t.test(`${at}: the price is that of the request, and nothing is done for it`, async (t) => {
    const { earned, worked, result } = await during(network, async () => [
      await door.ask(way, PATH, fresh()),
      await door.ask(way, PATH, { ...fresh(), resolution: '4k' }),
    ]);
    t.same(
      result.map(({ kind, price }) => [kind, price]),
      [
        ['challenge', 0.06],
        ['challenge', 0.15],
      ],
    );
    t.same([earned, worked], [0n, 0]);
  });

  t.test(`${at}: what is wrong is named before it is paid, and a payment for it is not taken`, async (t) => {
    const bad = { ...fresh(), resolution: '9k', colour: 'red' };
    const told = await door.ask(way, PATH, bad);
    t.equal(told.kind, 'challenge');
    t.same(new Set(told.invalidParams?.map(({ path }) => path)), new Set(['/resolution', '/colour']));
    const proof = await door.sign(way, PATH, bad);
    const { earned, worked, result } = await during(network, () => door.ask(way, PATH, bad, proof));
    t.has(result, { kind: 'problem', code: 'invalid_request' });
    t.same([earned, worked], [0n, 0]);
  });

  t.test(`${at}: one payment buys one call, however often and at once it is shown`, async (t) => {
    const input = fresh();
    const proof = await door.sign(way, PATH, input);
    const { earned, worked, result } = await during(network, () =>
      Promise.all(Array.from({ length: 5 }, () => door.ask(way, PATH, input, proof))),
    );
    t.same([earned, worked], [PRICES['1k'], 1]);
    t.same(new Set(result.map(({ kind }) => kind)), new Set(['answer']));
    t.equal(new Set(result.map(({ body }) => JSON.stringify(body))).size, 1);
    t.equal(new Set(result.map(({ transaction }) => transaction)).size, 1);
    t.ok(result[0]?.transaction);
    const again = await during(network, () => door.ask(way, PATH, input, proof));
    t.same([again.earned, again.worked, again.result.isReplayed], [0n, 0, true]);
    t.same(again.result.body, result[0]?.body);
  });

  t.test(`${at}: a payment is good for its own request only`, async (t) => {
    const proof = await door.sign(way, PATH, fresh());
    const other = { ...fresh(), resolution: '4k' };
    const { earned, worked, result } = await during(network, () => door.ask(way, PATH, other, proof));
    t.equal(result.kind, 'challenge');
    t.match(result.detail, /another|not the one|0\.15|150000/);
    t.same([earned, worked], [0n, 0]);
  });

  t.test(`${at}: a payment with a changed amount is refused with a fresh challenge`, async (t) => {
    const input = fresh();
    const proof = door.changed(await door.sign(way, PATH, input), (payment: Record<string, never>) => {
      const { accepted, challenge } = payment as { accepted?: { amount: string }; challenge?: { expires: string } };
      if (accepted) accepted.amount = '1';
      if (challenge) challenge.expires = '2099-01-01T00:00:00.000Z';
    });
    const { earned, worked, result } = await during(network, () => door.ask(way, PATH, input, proof));
    t.equal(result.kind, 'challenge');
    t.equal(result.price, 0.06);
    t.not(result.detail, 'Payment required');
    t.same([earned, worked], [0n, 0]);
  });

  t.test(
    `${at}: a call that fails is not charged, or owed where it had to settle first, and the payment gets it later`,
    async (t) => {
      const input = fresh();
      const proof = await door.sign(way, PATH, input);
      await gateway.fault({ upstream: 'predictions', fault: '500', count: 20 });
      const failed = await during(network, () => door.ask(way, PATH, input, proof));
      await gateway.fault({ upstream: 'predictions', fault: '500', count: 0 });
      t.equal(failed.result.kind, 'problem');
      t.equal(
        failed.earned > 0n,
        failed.result.code === 'result_owed',
        `${failed.result.code} and ${failed.earned} moved`,
      );
      const later = await during(network, () => door.ask(way, PATH, input, proof));
      t.equal(later.result.kind, 'answer');
      t.equal(failed.earned + later.earned, PRICES['1k']);
    },
  );
}

/** Where the sandbox can be told how settlements end. */
function settlementPromises(door: Door, way: Way): void {
  const { network } = way;
  const at = `${door.name}, ${way.rail} on ${network}`;

  t.test(`${at}: a settlement that is refused withholds the result`, async (t) => {
    const input = fresh();
    const proof = await door.sign(way, PATH, input);
    await gateway.fault({ settlement: network, fault: 'refuse' });
    const { earned, worked, result } = await during(network, () => door.ask(way, PATH, input, proof));
    t.equal(result.kind, 'challenge');
    t.match(result.detail, /not settled/);
    t.notMatch(JSON.stringify(result), /image_url/);
    t.same([earned, worked], [0n, 1]);
  });

  t.test(`${at}: a settlement whose answer was lost is found on the chain, and charged once`, async (t) => {
    const input = fresh();
    const proof = await door.sign(way, PATH, input);
    await gateway.fault({ settlement: network, fault: 'unknown' });
    const { earned, worked, result } = await during(network, async () => [
      await door.ask(way, PATH, input, proof),
      await door.ask(way, PATH, input, proof),
    ]);
    t.same(
      result.map(({ kind, isReplayed }) => [kind, isReplayed]),
      [
        ['answer', false],
        ['answer', true],
      ],
    );
    t.same([earned, worked], [PRICES['1k'], 1]);
  });
}

for (const door of [httpDoor(gateway), mcpDoor(gateway)]) {
  for (const way of ways) promises(door, way);
  settlementPromises(door, { rail: 'x402', network: 'chain-c' });
}

t.test('what was paid for at one door is not had for the same payment at the other', async (t) => {
  const way = ways[0] as Way;
  const [http, mcp] = [httpDoor(gateway), mcpDoor(gateway)];
  const input = fresh();
  const proof = await mcp.sign(way, PATH, input);
  t.equal((await mcp.ask(way, PATH, input, proof)).kind, 'answer');
  const header = Buffer.from(JSON.stringify(proof['x402/payment'])).toString('base64');
  const { earned, worked, result } = await during(way.network, () =>
    http.ask(way, PATH, { ...input, prompt: 'something else' }, { 'payment-signature': header }),
  );
  t.equal(result.kind, 'challenge');
  t.same([earned, worked], [0n, 0]);
});
