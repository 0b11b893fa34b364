/** `npm run keys`: API keys with prepaid credits, in the store that the gateway uses. */
import './broken-pipe.ts';
import { type NewKeyOrder, openApiKeys } from '../credits/api-keys.ts';
import type { KeptConfig } from '../gateway/config.ts';
import { toDecimal } from '../money.ts';
import type { ApiKey, KeyLimits } from '../store/credits/credit-store.ts';
import type { Store } from '../store/store.ts';
import { asJson, inColumns } from './columns.ts';
import { dollars, once, period, run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';
import { onStore, storeName } from './kept-store.ts';

const USAGE = `npm run keys -- <command>

  create --label <text>   a new key, shown this once
    --credit <dollars>      to start with (default: none)
    --per-day <dollars>     most that it may spend in a day of UTC
    --per-call <dollars>    most that one call may cost
    --models <a,b>          models it may use (default: all)
    --expires <period>      how long it is good: 12h, 30d (default: for ever)
  list [--json]           every key, oldest first
  top-up <id> <dollars>   adds credit to a key
    --reference <text>      names it: with the same one it is done once (default: a new one)
  disable <id>            for good; calls under way are still charged`;

type Values = ReturnType<typeof parse>['values'];

const parse = (words: readonly string[]) =>
  readOperands(
    USAGE,
    {
      label: { type: 'string' },
      credit: { type: 'string' },
      'per-day': { type: 'string' },
      'per-call': { type: 'string' },
      models: { type: 'string' },
      expires: { type: 'string' },
      reference: { type: 'string' },
      json: { type: 'boolean' },
    },
    words,
  );

/** How many words each command takes, and the options that it does. */
const COMMANDS: Readonly<Record<string, { readonly operands: number; readonly options: readonly string[] }>> = {
  create: { operands: 0, options: ['label', 'credit', 'per-day', 'per-call', 'models', 'expires'] },
  list: { operands: 0, options: ['json'] },
  'top-up': { operands: 2, options: ['reference'] },
  disable: { operands: 1, options: [] },
};

/** Throws UsageProblem for what the command does not take. What may be a key is not repeated. */
function checkWords(command: string, operands: readonly string[], values: Values): void {
  const known = COMMANDS[command];
  if (!known) throw new UsageProblem(`there is no command ${command}\n\n${USAGE}`);
  if (operands.length > known.operands) throw new UsageProblem(`${command} takes fewer words\n\n${USAGE}`);
  const stray = Object.keys(values).find((option) => !known.options.includes(option));
  if (stray !== undefined) throw new UsageProblem(`${command} takes no --${stray}\n\n${USAGE}`);
}

const say = (text: string): void => {
  process.stdout.write(text);
};

async function create(values: Values, store: Store, config: KeptConfig): Promise<void> {
  const apiKeys = openApiKeys({ store: store.credits, mode: config.mode, now: store.now });
  const label = values.label?.trim();
  if (!label) throw new UsageProblem(`--label is missing: say whose key it is\n\n${USAGE}`);
  const order: NewKeyOrder = {
    label,
    limits: await limitsOf(values, config),
    ...(values.credit !== undefined && { credit: dollars('--credit', values.credit) }),
    ...(values.expires !== undefined && { expiresAt: store.now() + period('--expires', values.expires) }),
  };
  const { apiKey, id } = await apiKeys.create(order);
  say(`${apiKey}\n`);
  process.stderr.write(`This is the only time that the key is shown; only its hash is kept. Its id is ${id}\n`);
}

async function limitsOf(values: Values, config: KeptConfig): Promise<KeyLimits> {
  const { models, 'per-day': perDay, 'per-call': perCall } = values;
  return {
    ...(perDay !== undefined && { perDay: dollars('--per-day', perDay) }),
    ...(perCall !== undefined && { perCall: dollars('--per-call', perCall) }),
    ...(models !== undefined && { models: await knownModels(models.split(','), config) }),
  };
}

/** A model misspelt would make a key for nothing. */
async function knownModels(names: readonly string[], { catalogueDirectory }: KeptConfig): Promise<string[]> {
  // To load them takes longer than all else that these commands do.
  const [{ loadCatalogue }, { shipped }, { namesOfModels }] = await Promise.all([
    import('../catalogue/load.ts'),
    import('../gateway/shipped.ts'),
    import('../http/api-keys/models.ts'),
  ]);
  const known = namesOfModels(loadCatalogue(catalogueDirectory, shipped));
  return names.map((name) => {
    if (known.has(name.trim())) return name.trim();
    throw new UsageProblem(`--models: no model ${name.trim()} is sold to keys: GET /v1/models lists those that are`);
  });
}

const HEAD = ['id', 'key', 'label', 'balance', 'held', 'limits', 'state'];

async function list({ json }: Values, store: Store, config: KeptConfig): Promise<void> {
  const keys = await store.credits.listKeys(store.now());
  if (json) say(asJson(HEAD, keys.map(listed)));
  else if (keys.length === 0) say(`no keys yet in ${storeName(config)}: npm run keys -- create --label <text>\n`);
  else say(inColumns(HEAD, keys.map(listed)));
}

const listed = (key: ApiKey): string[] => [
  key.id,
  `${key.shown}...`,
  key.label,
  toDecimal(key.balance),
  toDecimal(key.held),
  limitsText(key.limits),
  stateOf(key),
];

function limitsText({ perDay, perCall, models }: KeyLimits): string {
  const parts = [
    perDay === undefined ? '' : `${toDecimal(perDay)} a day`,
    perCall === undefined ? '' : `${toDecimal(perCall)} a call`,
    models?.join(' ') ?? '',
  ];
  return parts.filter((part) => part !== '').join(', ') || '-';
}

function stateOf({ disabledAt, expiresAt }: ApiKey): string {
  if (disabledAt !== undefined) return `disabled ${new Date(disabledAt).toISOString()}`;
  if (expiresAt === undefined) return 'good';
  return `${expiresAt > Date.now() ? 'good until' : 'expired'} ${new Date(expiresAt).toISOString()}`;
}

async function topUp([id, amount]: readonly string[], values: Values, store: Store): Promise<void> {
  if (id === undefined || amount === undefined) throw new UsageProblem(USAGE);
  const grant = { amount: dollars('top-up', amount), note: 'added by the operator' };
  if (grant.amount === 0n) throw new UsageProblem('top-up takes more than 0');
  const outcome = await once(values.reference, (reference) =>
    store.credits.grant(id, { ...grant, reference }, store.now()),
  );
  if ('balance' in outcome) say(`${id} has ${toDecimal(outcome.balance)} USD\n`);
  else if (outcome.refused === 'unknown') throw unknownKey(id);
  else if (outcome.refused === 'dead') {
    throw new UsageProblem(`${id} is disabled or expired, and nothing is added: make another key for whoever has it`);
  } else {
    throw new UsageProblem(
      `${values.reference} has added another amount, or to another key: nothing is added now. Leave --reference out for another top-up`,
    );
  }
}

async function disable([id]: readonly string[], store: Store): Promise<void> {
  if (id === undefined) throw new UsageProblem(USAGE);
  if (!(await store.credits.disableKey(id, store.now()))) throw unknownKey(id);
  say(`${id} is disabled\n`);
}

/** Not repeated where it may be a key in clear. */
const unknownKey = (id: string): UsageProblem =>
  new UsageProblem(`there is no key ${id.startsWith('key_') ? id : 'of that id'}: npm run keys -- list shows the ids`);

await run(async () => {
  const { values, positionals } = parse(process.argv.slice(2));
  const [command, ...operands] = positionals;
  if (command === undefined) throw new UsageProblem(USAGE);
  checkWords(command, operands, values);
  await onStore(command === 'create' ? 'writes' : 'reads', async (store, config) => {
    if (command === 'create') await create(values, store, config);
    else if (command === 'list') await list(values, store, config);
    else if (command === 'top-up') await topUp(operands, values, store);
    else await disable(operands, store);
  });
});
