/** Which networks are offered, by what facilitators say of them, and what the log and prepared challenges learn of changes. */
import t, { type Test } from 'tap';
import type { Network, NetworkBinding } from '../../src/catalogue/types.ts';
import { createLog, type Log } from '../../src/log.ts';
import type { ChannelOperator } from '../../src/payment/channels/operator.ts';
import type { EscrowOperator } from '../../src/payment/escrow/escrow.ts';
import { type Facilitator, FacilitatorUnreachable, type Kind } from '../../src/payment/facilitators/facilitator.ts';
import { createPayableNetworks, type NamedFacilitator } from '../../src/payment/networks.ts';
import { endingPauses } from '../pauses.ts';
import { json, serve } from './facilitators/front.ts';

const DOMAIN = { name: 'USD Coin', version: '2' };
const EVM: NetworkBinding = {
  caip2: 'eip155:8453',
  v1Name: 'base',
  // Nobody listens there.
  rpcUrl: 'http://127.0.0.1:9',
  asset: { symbol: 'USDC', address: '0xa5', decimals: 6, ...DOMAIN },
};
const SOLANA: NetworkBinding = {
  caip2: 'solana:main',
  v1Name: 'solana',
  asset: { symbol: 'USDC', address: 'mint', decimals: 9 },
};
const evm: Network = {
  id: 'evm',
  family: 'evm',
  listedAs: 'evm',
  live: EVM,
  sandbox: { ...EVM, caip2: 'eip155:84532', v1Name: 'base-sepolia', asset: { ...EVM.asset, address: '0x7e57' } },
  authorizationLastsMs: undefined,
};
const solana: Network = {
  id: 'solana',
  family: 'solana',
  listedAs: 'solana',
  live: SOLANA,
  sandbox: { ...SOLANA, caip2: 'solana:test' },
  authorizationLastsMs: 60_000,
};

const exactOn = (network: string, more: Partial<Kind> = {}): Kind => ({
  x402Version: 2,
  scheme: 'exact',
  network,
  ...more,
});

/** What a facilitator answers when it is asked what it supports, and the same for ever after. Errors are thrown. */
function answering(answers: readonly (readonly Kind[] | unknown)[], more: Partial<Facilitator> = {}): NamedFacilitator {
  let asked = -1;
  const facilitator: Pick<Facilitator, 'supported'> = {
    async supported() {
      asked += 1;
      const answer = answers[Math.min(asked, answers.length - 1)];
      if (!Array.isArray(answer)) throw answer;
      return answer;
    },
    ...more,
  };
  return { name: 'a facilitator', facilitator: facilitator as Facilitator };
}

/** Lines of the log, each with what it tells of a network or a facilitator. */
function keepingLog(): { log: Log; told: unknown[][] } {
  const told: unknown[][] = [];
  const say = (level: string) => (details: object, message: string) => {
    const { reason } = details as { reason?: unknown };
    told.push([level, message, ...('reason' in details ? [reason] : [])]);
  };
  return { told, log: { debug: () => {}, info: say('info'), warn: say('warn'), error: say('error') } };
}

type Configured = Parameters<typeof createPayableNetworks>[0][number];

const configured = (network: Network, more: Partial<Configured> = {}): Configured => ({
  network,
  mode: 'live',
  payTo: 'merchant',
  rpcUrl: undefined,
  ...more,
});

interface Opened {
  readonly configurations?: readonly Configured[];
  readonly log?: Log;
}

function open(
  t: Test,
  facilitators: readonly NamedFacilitator[],
  { configurations = [configured(evm), configured(solana)], log = createLog('silent') }: Opened = {},
) {
  const pauses = endingPauses(t);
  return { pauses, payable: createPayableNetworks(configurations, facilitators, log) };
}

const down = new FacilitatorUnreachable('no answer');
const OFFERED = [exactOn(EVM.caip2)];

t.test(
  'a facilitator that misses one question keeps its networks, one that misses two loses them, and gets them back',
  async (t) => {
    const { payable, pauses } = open(t, [answering([OFFERED, down, OFFERED, down, down, OFFERED])]);
    t.equal(payable.find('evm'), undefined, 'nothing is payable before it was asked');
    const { version } = payable;
    await payable.refresh();
    t.ok(payable.find('evm'));
    t.same(pauses, [], 'and an answer is enough');
    await payable.refresh();
    t.ok(payable.find('evm'), 'it answered the second time');
    t.same(pauses, [2_000], 'two seconds later');
    t.equal(payable.version, version + 1, 'and challenges that were prepared stay good');
    await payable.refresh();
    t.equal(payable.find('evm'), undefined);
    t.same(payable.all(), []);
    t.equal(payable.version, version + 2);
    await payable.refresh();
    t.ok(payable.find('evm'));
    t.equal(payable.version, version + 3);
    t.same(pauses, [2_000, 2_000], 'who was not offered is not asked a second time');
  },
);

t.test('nothing changes where nothing is offered, and nobody waits for it', async (t) => {
  const { payable, pauses } = open(t, [answering([down])]);
  await payable.refresh();
  await payable.refresh();
  t.same([payable.version, payable.all(), pauses], [0, [], []]);
});

t.test('a network is offered where a facilitator settles exact payments of version 2 on it', async (t) => {
  for (const [kinds, isOffered] of [
    [[exactOn(EVM.caip2)], true],
    [[exactOn(evm.sandbox.caip2), exactOn(EVM.caip2)], true],
    [[exactOn(EVM.caip2, { x402Version: 1 })], false],
    [[exactOn(EVM.caip2, { scheme: 'upto' })], false],
    [[exactOn(evm.sandbox.caip2)], false],
    [[exactOn('base', { x402Version: 1 })], false],
    [[], false],
  ] as const) {
    const { payable } = open(t, [answering([kinds])]);
    await payable.refresh();
    t.equal(payable.find('evm') !== undefined, isOffered, JSON.stringify(kinds));
    t.same(
      payable.all().map(({ id, caip2 }) => [id, caip2]),
      isOffered ? [['evm', EVM.caip2]] : [],
    );
  }
});

t.test('in the sandbox a network is the other one, by chain and asset', async (t) => {
  const configurations = [configured(evm, { mode: 'sandbox' })];
  const { payable } = open(t, [answering([[exactOn(evm.sandbox.caip2)]])], { configurations });
  await payable.refresh();
  t.match(payable.find('evm'), { caip2: 'eip155:84532', asset: { address: '0x7e57' } });
});

t.test('the first facilitator in the order of preference that settles on a network serves it', async (t) => {
  const first = answering([[exactOn(SOLANA.caip2)]]);
  const second = answering([[exactOn(SOLANA.caip2), exactOn(EVM.caip2)]]);
  const { payable } = open(t, [first, second]);
  await payable.refresh();
  t.equal(payable.find('solana')?.facilitator, first.facilitator);
  t.equal(payable.find('evm')?.facilitator, second.facilitator);
});

t.test('a network is what its configuration says, and the catalogue where that says nothing', async (t) => {
  const kinds = [exactOn(EVM.caip2), exactOn(SOLANA.caip2)];
  const configurations = [configured(evm, { payTo: '0xme' }), configured(solana, { rpcUrl: 'http://127.0.0.1:7' })];
  const { payable } = open(t, [answering([kinds])], { configurations });
  await payable.refresh();
  t.match(payable.find('evm'), { payTo: '0xme', rpcUrl: EVM.rpcUrl, asset: EVM.asset, family: 'evm' });
  t.match(payable.find('solana'), { payTo: 'merchant', rpcUrl: 'http://127.0.0.1:7', authorizationLastsMs: 60_000 });
});

t.test('clients of version 1 are named a network where its facilitator serves them, too', async (t) => {
  const v1Kinds = [exactOn('base', { x402Version: 1 }), exactOn('solana', { x402Version: 1, scheme: 'upto' })];
  const { payable } = open(t, [answering([[exactOn(EVM.caip2), exactOn(SOLANA.caip2), ...v1Kinds]])]);
  await payable.refresh();
  t.equal(payable.find('evm')?.v1Name, 'base');
  t.equal(payable.find('solana')?.v1Name, undefined);
});

t.test("what is signed is told as its chain's family needs it: a token's domain, or a fee payer", async (t) => {
  const extra = { feePayer: 'payer' };
  const more = exactOn(SOLANA.caip2, { extra });
  const { payable } = open(t, [answering([[exactOn(EVM.caip2, { extra: { other: 1 } }), more]])]);
  await payable.refresh();
  t.same(payable.find('evm')?.extra, DOMAIN);
  t.same(payable.find('solana')?.extra, extra);
});

const OTHER_SCHEMES = ['upto', 'auth-capture', 'batch-settlement'];

t.test('the other schemes are offered on EVM networks, where the facilitator has them', async (t) => {
  const others = (network: string) => OTHER_SCHEMES.map((scheme) => exactOn(network, { scheme, extra: { scheme } }));
  const kinds = [exactOn(EVM.caip2), exactOn(SOLANA.caip2), ...others(EVM.caip2), ...others(SOLANA.caip2)];
  const drivers = { escrow: async () => ({}) as EscrowOperator, channels: async () => ({}) as ChannelOperator };
  const { payable } = open(t, [answering([kinds], drivers)]);
  await payable.refresh();
  const { upto, hold, channels } = payable.find('evm') ?? {};
  t.same(
    [upto, hold?.extra, channels?.extra],
    OTHER_SCHEMES.map((scheme) => ({ ...DOMAIN, scheme })),
  );
  t.match(payable.find('solana'), { upto: undefined, hold: undefined, channels: undefined });

  const { payable: plain } = open(t, [answering([OFFERED])]);
  await plain.refresh();
  t.match(plain.find('evm'), { upto: undefined, hold: undefined, channels: undefined, takesApprovals: false });
});

t.test('approvals of Permit2 are taken along where the facilitator says so', async (t) => {
  for (const [takesApprovals, isTaken] of [
    [true, true],
    [false, false],
    [undefined, false],
  ] as const) {
    const upto = exactOn(EVM.caip2, { scheme: 'upto', ...(takesApprovals !== undefined && { takesApprovals }) });
    const { payable } = open(t, [answering([[exactOn(EVM.caip2), upto]])]);
    await payable.refresh();
    t.equal(payable.find('evm')?.takesApprovals, isTaken);
  }
});

t.test(
  "an escrow's and a channel's contracts are driven by the facilitator of their network, or by nobody",
  async (t) => {
    const schemes = ['auth-capture', 'batch-settlement'].map((scheme) => exactOn(EVM.caip2, { scheme }));
    const kinds = [[exactOn(EVM.caip2), ...schemes]];
    const escrow = {} as EscrowOperator;
    const channels = {} as ChannelOperator;
    const asked: string[] = [];
    const found =
      <Driver>(driver: Driver) =>
      async (caip2: string) => {
        asked.push(caip2);
        return driver;
      };
    const { payable } = open(t, [answering(kinds, { escrow: found(escrow), channels: found(channels) })]);
    await payable.refresh();
    t.equal(await payable.find('evm')?.hold?.operator(), escrow);
    t.equal(await payable.find('evm')?.channels?.operator(), channels);
    t.same(asked, [EVM.caip2, EVM.caip2]);

    const { payable: nobodys } = open(t, [answering(kinds, { escrow: found(undefined), channels: found(undefined) })]);
    await nobodys.refresh();
    const { hold, channels: drawn } = nobodys.find('evm') ?? {};
    for (const operator of [hold?.operator(), drawn?.operator()]) {
      await t.rejects(Promise.resolve(operator), {
        name: 'FacilitatorUnreachable',
        message: /contracts of eip155:8453/,
      });
    }

    const { payable: anothers } = open(t, [answering(kinds)]);
    await anothers.refresh();
    const offered = anothers.find('evm');
    t.same(
      [offered?.hold, offered?.channels],
      [undefined, undefined],
      'what another would have to drive is not offered',
    );
  },
);

t.test('challenges that were prepared are stale once what is offered changes, and not before', async (t) => {
  const [one, two] = ['one', 'two'].map((feePayer) => [exactOn(SOLANA.caip2, { extra: { feePayer } })]);
  const first = answering([one, one, two, down]);
  const second = answering([two]);
  const { payable } = open(t, [first, second]);
  const versions: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await payable.refresh();
    versions.push(payable.version);
  }
  t.same(versions, [1, 1, 2, 3], 'another fee payer, then the same from another facilitator');
  t.equal(payable.find('solana')?.facilitator, second.facilitator);
});

t.test('the log tells once that a facilitator is out of reach and why, and once that it is back', async (t) => {
  const { log, told } = keepingLog();
  const refused = new Error('fetch failed', { cause: new Error('connect', { cause: new Error('no route') }) });
  const answers = [OFFERED, OFFERED, down, down, down, refused, refused, 'nonsense', OFFERED, OFFERED];
  const { payable } = open(t, [answering(answers)], { log, configurations: [configured(evm)] });
  for (let round = 0; round < 9; round += 1) await payable.refresh();
  t.same(
    told.filter(([, message]) => String(message).startsWith('facilitator')),
    [
      ['error', 'facilitator is out of reach', 'no answer'],
      ['error', 'facilitator is out of reach', 'fetch failed: connect: no route'],
      ['error', 'facilitator is out of reach', 'unknown'],
      ['info', 'facilitator is in reach again'],
    ],
  );
});

t.test(
  'the log tells once why a network is left out, again where the reason is another, and that it is back',
  async (t) => {
    const { log, told } = keepingLog();
    const others = exactOn('eip155:1');
    const answers = [[others], [others], OFFERED, OFFERED, [others], [others], [others]];
    const { payable } = open(t, [answering(answers)], { log, configurations: [configured(evm)] });
    for (let round = 0; round < 6; round += 1) await payable.refresh();
    const leftOut = ['warn', 'network is left out of the offers', 'no facilitator in reach settles on eip155:8453'];
    t.same(told, [leftOut, ['info', 'network is offered again'], leftOut]);
  },
);

t.test('without an address to pay to, a network is not offered, whoever settles there', async (t) => {
  const { log, told } = keepingLog();
  const configurations = [configured(evm, { payTo: undefined }), configured(solana)];
  const kinds = [exactOn(EVM.caip2), exactOn(SOLANA.caip2)];
  const { payable } = open(t, [answering([kinds])], { log, configurations });
  await payable.refresh();
  t.same(payable.ids, ['evm', 'solana'], 'it is configured all the same');
  t.same(
    payable.all().map(({ id }) => id),
    ['solana'],
  );
  t.same(told, [['warn', 'network is left out of the offers', 'no pay-to address is configured']]);
});

t.test("what cannot be used of a network is told once, as its facilitator's exact payments have it", async (t) => {
  const { log, told } = keepingLog();
  const kindsWith = (notice: string | undefined) => [
    exactOn(EVM.caip2, { notice }),
    exactOn(EVM.caip2, { scheme: 'upto', notice: 'of upto' }),
    exactOn(EVM.caip2, { x402Version: 1, notice: 'of version 1' }),
  ];
  const notices = [undefined, 'no gas', 'no gas', 'no key', undefined, undefined, 'no key', 'no key'];
  const { payable } = open(t, [answering(notices.map(kindsWith))], { log, configurations: [configured(evm)] });
  for (const _ of notices) await payable.refresh();
  const message = 'not all of a network can be used';
  t.same(
    told,
    ['no gas', 'no key', 'no key'].map((notice) => ['warn', message, notice]),
  );
});

/** A facilitator on both networks, where settling costs this much on the EVM one from round to round. */
function costing(...prices: (bigint | undefined)[]): NamedFacilitator {
  return answering([[exactOn(EVM.caip2), exactOn(SOLANA.caip2)]], {
    async leastPrices() {
      const price = prices.shift();
      if (price === undefined) throw new Error('the node does not answer');
      return new Map([[EVM.caip2, price]]);
    },
  });
}

t.test('the lowest price that is worth settling is rounded up in four binary digits', async (t) => {
  for (const [price, least] of [
    [0n, 0n],
    [1n, 1n],
    [7n, 7n],
    [15n, 15n],
    [16n, 16n],
    [17n, 18n],
    [31n, 32n],
    [33n, 36n],
    [960n, 960n],
    [961n, 1024n],
    [1_000_000n, 1_048_576n],
  ] as const) {
    const { payable } = open(t, [costing(price)]);
    await payable.refresh();
    await payable.weigh();
    t.equal(payable.leastPrice('evm'), least, `of ${price}`);
    t.equal(payable.leastPrice('solana'), 0n, 'and nobody says what it costs elsewhere');
  }
});

t.test('prepared challenges are stale once settling costs another step, and silence changes nothing', async (t) => {
  const { payable } = open(t, [costing(961n, 1_000n, undefined, 1_025n)]);
  t.equal(payable.leastPrice('evm'), 0n, 'of what cannot be paid now');
  await payable.refresh();
  const steps: [bigint, number][] = [];
  for (let round = 0; round < 4; round += 1) {
    await payable.weigh();
    steps.push([payable.leastPrice('evm'), payable.version - 2]);
  }
  t.same(steps, [
    [1_024n, 1],
    [1_024n, 1],
    [1_024n, 1],
    [1_152n, 2],
  ]);
});

t.test('where another pays for settling, every price is worth it', async (t) => {
  const { payable } = open(t, [answering([OFFERED])]);
  await payable.refresh();
  await payable.weigh();
  t.same([payable.leastPrice('evm'), payable.version], [0n, 1]);
});

const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';

for (const { family, told, right, wrong } of [
  { family: evm, told: 'eth_chainId', right: ['0x2105', 'eip155:8453'], wrong: ['0x1', 'eip155:1'] },
  {
    family: { ...solana, live: { ...SOLANA, caip2: `solana:${MAINNET.slice(0, 32)}` } },
    told: 'getGenesisHash',
    right: [MAINNET, `solana:${MAINNET.slice(0, 32)}`],
    wrong: [DEVNET, `solana:${DEVNET.slice(0, 32)}`],
  },
] as const) {
  t.test(
    `a node of another chain takes its network out of the offers, and is not believed (${family.id})`,
    async (t) => {
      let answer: readonly [string, string] = wrong;
      const asked: string[] = [];
      const node = await serve((_request, response, body) => {
        const { id, method } = JSON.parse(body);
        if (method === told) asked.push(method);
        json(response, 200, { jsonrpc: '2.0', id, result: method === told ? answer[0] : null });
      });
      t.teardown(node.stop);
      const { log, told: lines } = keepingLog();
      const { payable } = open(t, [answering([[exactOn(right[1])]])], {
        configurations: [configured(family, { rpcUrl: node.url })],
        log,
      });
      await payable.refresh();
      t.equal(payable.find(family.id), undefined);
      t.equal(payable.configured(family.id)?.rpcUrl, undefined, 'nothing is looked up there');
      await payable.refresh();
      const reason = `its RPC address leads to a node of ${wrong[1]}, not of ${right[1]}: correct TURNPIKE_RPC_URL_<network>, or rpcUrl in networks.yaml`;
      t.same(lines, [['warn', 'network is left out of the offers', reason]], 'it is said once');

      answer = right;
      await payable.refresh();
      t.equal(payable.find(family.id)?.rpcUrl, node.url);
      t.equal(payable.configured(family.id)?.rpcUrl, node.url);
      await payable.refresh();
      t.same(asked, [told, told, told], 'what is right is not asked again');
    },
  );
}

t.test('each protocol version knows a configured network by its own name, payable now or not', (t) => {
  const { payable } = open(t, [], {
    configurations: [configured(evm, { mode: 'sandbox' }), configured(solana)],
  });
  for (const [version, name, id] of [
    [1, 'base-sepolia', 'evm'],
    [1, 'solana', 'solana'],
    [1, 'eip155:84532', undefined],
    [1, 'base', undefined],
    [2, 'eip155:84532', 'evm'],
    [2, 'solana:main', 'solana'],
    [2, 'eip155:8453', undefined],
    [2, 'base-sepolia', undefined],
  ] as const) {
    t.equal(payable.named(version, name)?.id, id, `${name} in version ${version}`);
  }
  t.same(payable.named(1, 'base-sepolia'), { id: 'evm', caip2: 'eip155:84532', asset: evm.sandbox.asset });
  for (const [name, id] of [
    ['evm', 'evm'],
    ['eip155:84532', 'evm'],
    ['solana:main', 'solana'],
    ['solana', 'solana'],
    ['eip155:8453', undefined],
  ] as const) {
    t.equal(payable.configured(name)?.id, id, name);
  }
  t.end();
});

t.test('payments on a network that the configuration has lost cannot be counted, and that is said', (t) => {
  const { payable } = open(t, []);
  t.same([payable.decimals('evm'), payable.decimals('solana')], [6, 9]);
  t.throws(() => payable.decimals('gone'), { message: /^gone is not a network of networks\.yaml any more/ });
  t.end();
});
