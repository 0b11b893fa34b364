/** A shop's figures as the gateway would tell them, made from a seed: nothing in them is random. */
import type {
  CataloguePage,
  EndpointRow,
  KeyRow,
  NetworkRow,
  Overview,
  PaymentDetail,
  PaymentRow,
  Slice,
  Step,
  Totals,
  UpstreamRow,
} from '../../src/console/figures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const PRICES: Readonly<Record<string, number>> = {
  'image/family-e-2': 100_000,
  'llm/multi-model': 42_100,
  'video/short-generation': 1_250_000,
  'token/chain-a-market': 2_000,
  'shop/search': 20_000,
  'audio/elevenlabs-music': 1_500_000,
  'stock/research': 250_000,
  'ai/x-news': 60_000,
  'tokens-api/asset-ohlcv': 1_000,
  'image/designer': 400_000,
  'prediction-market/market-intel': 350_000,
};

const ENDPOINTS = Object.keys(PRICES);

/** Millionths of a dollar as a decimal string. */
const money = (millionths: number): string => String(Math.round(millionths) / 1e6);

const totals = (calls: number, price: number, p50 = 412): Totals => {
  const failures = Math.floor(calls * 0.018);
  const revenue = (calls - failures) * price;
  const cost = Math.round(revenue * 0.62);
  return {
    calls,
    failures,
    challenges: calls * 3,
    revenue: money(revenue),
    cost: money(cost),
    margin: money(revenue - cost),
    refunds: money(Math.floor(failures / 4) * price),
    ...(calls > 0 && { p50, p95: p50 * 7 }),
  };
};

const slices = (names: readonly string[], calls: number): Slice[] =>
  names.map((name, at) => ({ name, ...totals(Math.floor(calls / (at + 1)), PRICES[name] ?? 96_000, 90 + at * 160) }));

/** As many calls as an hour of the day brings. */
const callsAt = (at: number): number =>
  Math.round(60 + 45 * Math.sin((at / DAY_MS) * 2 * Math.PI) + ((at / HOUR_MS) % 7) * 4);

export function overviewOf(from: number, to: number): Overview {
  const stepMs = to - from > 14 * DAY_MS ? DAY_MS : HOUR_MS;
  const first = Math.floor(from / stepMs) * stepMs;
  const series: Step[] = [];
  for (let at = first; at < to; at += stepMs) {
    series.push({ at, ...totals(callsAt(at) * (stepMs / HOUR_MS), 96_000, 350 + ((at / stepMs) % 9) * 30) });
  }
  const calls = series.reduce((sum, step) => sum + step.calls, 0);
  return {
    service: 'Turnpike',
    mode: 'sandbox',
    catalogue: '3f9c1a7b20de',
    from,
    to,
    stepMs,
    totals: totals(calls, 96_000),
    series,
    endpoints: slices(ENDPOINTS, calls / 3),
    networks: slices(['chain-a', 'chain-c', 'chain-e'], calls / 2),
    doors: slices(['x402', 'mpp', 'mcp', 'api-key'], calls / 2),
    attention: {
      owed: { count: 2, worth: '0.2' },
      unknown: { count: 1, worth: '1.25' },
      stuck: { count: 0, worth: '0' },
      refundsWaiting: { count: 1, worth: '0.1' },
      creditLiability: '148.52',
    },
    creditsSold: '40',
    isWhole: true,
  };
}

const STATES = [
  'settled',
  'settled',
  'settled',
  'owed',
  'settled',
  'released',
  'unknown',
  'settled',
  'refunded',
  'unsettled',
  'claimed',
  'fulfilled',
];

const PAYER = '0x52908400098527886E0F7030069857D2E4169EE7';

/** The newest first; as many as fill two pages and a bit. */
export const paymentsUntil = (now: number): PaymentRow[] =>
  Array.from({ length: 120 }, (_, at) => {
    const state = STATES[at % STATES.length] ?? 'settled';
    const endpoint = ENDPOINTS[at % ENDPOINTS.length] ?? '';
    const isPaid = ['settled', 'owed', 'refunded'].includes(state);
    return {
      id: `eip3009:84532:${PAYER.toLowerCase()}:0x${(4_096 + at).toString(16).padStart(64, 'a')}`,
      createdAt: now - at * 97_000,
      state,
      endpoint,
      rail: at % 5 === 0 ? 'mpp' : 'x402',
      network: at % 3 === 0 ? 'chain-a' : 'chain-c',
      payer: PAYER,
      amount: money(PRICES[endpoint] ?? 0),
      asset: 'USDC',
      ...(isPaid && {
        cost: money((PRICES[endpoint] ?? 0) * 0.6),
        transaction: `0x${(at + 1).toString(16).padStart(64, 'b')}`,
      }),
      ...(state === 'owed' && { reason: 'upstream_failed' }),
      ...(state === 'unsettled' && { isLoss: true }),
      // Some spreadsheet would take this for a formula.
      ...(state === 'released' && { reason: '=HYPERLINK("https://example.com","look")' }),
    };
  });

export const detailOf = (payment: PaymentRow): PaymentDetail => {
  const at = payment.createdAt;
  const isTaken = payment.transaction !== undefined && payment.state !== 'refunded';
  return {
    ...payment,
    timeline: [
      { at: at - 240, step: 'challenge', detail: '402, payable on chain-a, chain-c' },
      { at, step: 'verified', ms: 38, detail: 'x402 exact' },
      { at: at + 39, step: 'claimed', ms: 3, detail: 'first attempt' },
      { at: at + 44, step: 'upstream', ms: 1_240, detail: 'predictions answered 503' },
      { at: at + 1_300, step: 'upstream', ms: 2_180, detail: 'predictions answered 200' },
      ...(isTaken ? [{ at: at + 3_490, step: 'settled', ms: 410, detail: payment.transaction ?? '' }] : []),
      { at: at + 3_902, step: 'answered', detail: '200' },
    ],
    refunds:
      payment.state === 'refunded'
        ? [
            {
              number: 1,
              amount: payment.amount,
              state: 'sent',
              reason: 'the result was owed for too long',
              createdAt: at + 900_000,
              transaction: payment.transaction ?? '',
            },
          ]
        : [],
    left: isTaken ? payment.amount : '0',
  };
};

export const upstreams: readonly UpstreamRow[] = [
  {
    name: 'predictions',
    isOpen: false,
    calls: 812,
    failures: 9,
    spend: '61.2204',
    p50: 2_130,
    p95: 9_400,
    missing: [],
  },
  { name: 'chat', isOpen: false, calls: 391, failures: 2, spend: '8.400211', p50: 840, p95: 4_100, missing: [] },
  { name: 'market-data', isOpen: true, calls: 120, failures: 77, spend: '0', p50: 130, p95: 10_000, missing: [] },
  { name: 'music', isOpen: false, calls: 0, failures: 0, spend: '0', missing: ['ELEVENLABS_API_KEY'] },
];

export const networks: readonly NetworkRow[] = [
  {
    id: 'chain-a',
    caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    payTo: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
    facilitator: 'https://facilitator.example/v2',
    unclaimed: '0',
  },
  {
    id: 'chain-c',
    caip2: 'eip155:84532',
    payTo: '0xb68599aeF9E1748D2e0918afF11Af341B71B6f63',
    facilitator: 'own signer',
    signer: { address: '0x27b1fdb04752bbc536007a920d24acb045561c26', balance: '0.0132', coin: 'ETH', isLow: true },
    unclaimed: '3.141592',
  },
  { id: 'chain-e', caip2: 'eip155:4663', payTo: '0xb68599aeF9E1748D2e0918afF11Af341B71B6f63', unclaimed: '0' },
  { id: 'chain-f', caip2: 'eip155:42431', unclaimed: '0' },
];

export const keysAt = (now: number): KeyRow[] => [
  {
    id: 'key-1',
    shown: 'tp_live_8f3a',
    label: 'Research desk',
    balance: '143.52',
    spentToday: '12.4821',
    dailyLimit: '25',
    createdAt: now - 40 * DAY_MS,
    expiresAt: now + 50 * DAY_MS,
  },
  {
    id: 'key-2',
    shown: 'tp_live_77b0',
    label: 'Nightly jobs',
    balance: '5',
    spentToday: '0',
    createdAt: now - 9 * DAY_MS,
  },
  {
    id: 'key-3',
    shown: 'tp_live_01cd',
    label: 'Trial of a former customer',
    balance: '0',
    spentToday: '0',
    createdAt: now - 90 * DAY_MS,
    disabledAt: now - 3 * DAY_MS,
  },
];

const endpointRows: readonly EndpointRow[] = slices(ENDPOINTS, 9_000).map(
  ({ name, calls, revenue, cost, margin }, at) => ({
    name,
    title: `What ${name} sells, in a line as the catalogue has it`,
    path: `/${name}`,
    price: at % 3 === 0 ? `$${money(PRICES[name] ?? 0)}` : `$0.01 to $${money(PRICES[name] ?? 0)} by resolution`,
    networks: at % 2 === 0 ? ['chain-a', 'chain-c'] : ['chain-c'],
    upstream: at % 4 === 0 ? 'predictions' : 'chat',
    calls,
    revenue,
    cost,
    margin,
    isSold: at !== 5,
  }),
);

export const catalogue: CataloguePage = {
  version: '3f9c1a7b20de',
  endpoints: endpointRows,
  pending: {
    changes: ['image/family-e-2: price 0.10 -> 0.12', 'ai/x-news: no longer payable on chain-c'],
    problems: [],
  },
};
