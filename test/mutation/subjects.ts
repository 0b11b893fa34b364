/** What is mutated, and the tests that should notice: those that end soonest first. */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

interface Area {
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

const STORE = [
  '',
  'engines/',
  'migrations/',
  'payments/',
  'credits/',
  'channels/',
  'figures/',
  'refunds/',
  'alerts/',
].map((part) => `src/store/${part}*.ts`);
const STORE_TESTS = ['engines', 'payments', 'credits', 'channels', 'figures'].map(
  (part) => `test/store/${part}/*.test.ts`,
);

const ROAD = [
  'test/road/paying/one-payment.test.ts',
  'test/road/again/repeated-proofs.test.ts',
  'test/road/again/failures.test.ts',
  'test/road/again/idempotency-key.test.ts',
  'test/road/again/stuck.test.ts',
  'test/road/exposure/exposure*.test.ts',
  'test/road/exposure/settles-first.test.ts',
  'test/road/operating/draining.test.ts',
  'test/model/payments.test.ts',
];

export const areas: readonly Area[] = [
  {
    files: ['src/lifecycle/*.ts', 'src/payment/*.ts', 'src/payment/exposure/*.ts'],
    tests: [
      'test/payment/*.test.ts',
      'test/payment/mpp/*.test.ts',
      'test/lifecycle/*.test.ts',
      'test/payment/exposure/*.test.ts',
      'test/road/paying/bad-*.test.ts',
      'test/road/again/payment-identifier.test.ts',
      'test/road/channels/channels.test.ts',
      'test/road/exposure/held.test.ts',
      'test/road/sold/any-api.test.ts',
      'test/road/paying/offered-networks.test.ts',
      'test/road/paying/upto.test.ts',
      'test/road/operating/metrics.test.ts',
      'test/road/limits/limits.test.ts',
      'test/road/chains/confirmations.test.ts',
      ...ROAD,
    ],
  },
  {
    files: [
      'src/payment/authorizations/*.ts',
      'src/on-chain/base58.ts',
      'src/payment/chains/confirmations.ts',
      'src/payment/chains/evm-logs.ts',
      'src/payment/chains/looks.ts',
      'src/payment/chains/rpc.ts',
      'src/payment/chains/solana-blockhash.ts',
      'src/payment/chains/solana-token-account.ts',
      'src/payment/chains/solana-transaction.ts',
    ],
    tests: [
      'test/payment/authorizations/*.test.ts',
      'test/payment/chains/*.test.ts',
      'test/payment/mpp/*.test.ts',
      'test/payment/reconcile.test.ts',
      'test/payment/facilitators/solana-fee-payer.test.ts',
      'test/payment/facilitators/upto.test.ts',
      'test/road/paying/bad-proofs.test.ts',
      'test/road/chains/confirmations.test.ts',
      'test/road/exposure/held*.test.ts',
      'test/road/wallets/new-wallets.test.ts',
      'test/road/wallets/permit-sponsoring.test.ts',
      'test/road/again/repeated-proofs.test.ts',
      'test/road/paying/upto.test.ts',
      'test/cli/books.test.ts',
    ],
  },
  {
    files: ['src/rails/x402/channel*.ts', 'src/payment/channels/*.ts', 'src/payment/facilitators/evm-channels.ts'],
    tests: [
      'test/payment/channels/*.test.ts',
      'test/payment/authorizations/batch-settlement.test.ts',
      'test/rails/x402/channel*.test.ts',
      'test/payment/facilitators/channel-node.test.ts',
      'test/payment/facilitators/evm-channels.test.ts',
      'test/road/channels/channel*.test.ts',
    ],
  },
  {
    files: ['src/payment/chains/*incoming.ts'],
    tests: ['test/payment/chains/incoming.test.ts', 'test/cli/books.test.ts'],
  },
  {
    files: ['src/payment/facilitators/evm-deployment.ts'],
    tests: ['test/payment/facilitators/evm-deployment.test.ts', 'test/road/wallets/new-wallets.test.ts'],
  },
  {
    files: ['src/payment/escrow/*.ts', 'src/payment/refunds/*.ts', 'src/payment/facilitators/evm-escrow.ts'],
    tests: [
      'test/payment/refunds.test.ts',
      'test/payment/facilitators/evm-escrow.test.ts',
      'test/road/exposure/held*.test.ts',
      'test/cli/refunds.test.ts',
      'test/road/refunds/*.test.ts',
    ],
  },
  {
    files: ['src/rails/mpp/*.ts', 'src/rails/x402/*.ts', 'src/rails/until-replaced.ts'],
    tests: [
      'test/payment/mpp/*.test.ts',
      'test/rails/x402/*.test.ts',
      'test/road/paying/*.test.ts',
      'test/road/again/*.test.ts',
      'test/road/operating/reload.test.ts',
      'test/client/refunds.test.ts',
      'test/payment/refunds.test.ts',
    ],
  },
  {
    files: ['src/client/*.ts', 'src/cli/mcp/*.ts', 'src/cli/pay/*.ts'],
    tests: ['test/client/*.test.ts', 'test/cli/mcp*.test.ts', 'test/cli/pay*.test.ts', 'test/cli/buyer.test.ts'],
  },
  {
    files: STORE,
    tests: [...STORE_TESTS, 'test/payment/exposure/*.test.ts', ...ROAD],
  },
  { files: ['src/pricing/*.ts'], tests: ['test/pricing/*.test.ts', 'test/catalogue/*.test.ts'] },
  {
    files: ['src/credits/*.ts', 'src/http/api-keys/charge.ts', 'src/http/api-keys/top-up.ts'],
    tests: [
      'test/credits/*.test.ts',
      'test/http/api-keys/*.test.ts',
      'test/road/sold/credits.test.ts',
      'test/road/channels/paid-as-it-goes.test.ts',
    ],
  },
  {
    files: ['src/upstream/bought.ts', 'src/upstream/providers/replicate/run.ts'],
    tests: [
      'test/upstream/*.test.ts',
      'test/upstream/providers/*.test.ts',
      'test/upstream/providers/replicate/*.test.ts',
      'test/road/sold/jobs.test.ts',
    ],
  },
  {
    files: ['src/upstream/http/*.ts'],
    tests: [
      'test/upstream/http/*.test.ts',
      'test/upstream/media/*.test.ts',
      'test/secrets.test.ts',
      'test/road/sold/access-token.test.ts',
    ],
  },
  {
    files: ['src/upstream/providers/http/*.ts'],
    tests: [
      'test/upstream/providers/http*.test.ts',
      'test/upstream/providers/jobs.test.ts',
      'test/upstream/providers/as-text.test.ts',
      'test/catalogue/http-mistakes.test.ts',
      'test/road/sold/a*.test.ts',
      'test/road/sold/forms.test.ts',
      'test/road/sold/jobs.test.ts',
    ],
  },
];

/** In the order in which they are named; of a pattern's own, whose last part may have one `*`, by name. */
export const filesOf = (patterns: readonly string[]): string[] =>
  patterns.flatMap((pattern) => {
    const [before = '', after = ''] = basename(pattern).split('*');
    if (!pattern.includes('*')) return [pattern];
    const names = readdirSync(dirname(pattern)).filter((name) => name.startsWith(before) && name.endsWith(after));
    return names.sort().map((name) => join(dirname(pattern), name));
  });
