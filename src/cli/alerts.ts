/** `npm run alerts`: what webhooks were told, and whether they listen. */
import './broken-pipe.ts';
import { randomUUID } from 'node:crypto';
import { openDelivery } from '../alerts/deliver.ts';
import { alertProblems } from '../alerts/secret.ts';
import { loadCatalogue } from '../catalogue/load.ts';
import { ConfigProblem } from '../environment.ts';
import { readAlertConfig } from '../gateway/config.ts';
import { shipped } from '../gateway/shipped.ts';
import type { Alert } from '../store/alerts/alert-store.ts';
import { asJson, inColumns, shownTime } from './columns.ts';
import { run } from './command.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';
import { onStore, storeName } from './kept-store.ts';

const USAGE = `npm run alerts -- --list [--json]
npm run alerts -- --test

  --list  all that the webhooks of service.yaml were not told, or not yet, and why, and the last 50 that they were, newest first
  --test  sends an event \`test\` to each of them now, and says what came of it`;

/** Of what was told. */
const LISTED = 50;
const HEAD = ['time (UTC)', 'state', 'alert', 'receiver', 'attempts', 'why not'];

const rowOf = ({ createdAt, state, occurrence, receiver, attempt, fault = '-' }: Alert): string[] => [
  shownTime(createdAt),
  state,
  occurrence,
  new URL(receiver).host,
  String(attempt),
  fault,
];

const list = (json: boolean): Promise<void> =>
  onStore('reads', async (store, config) => {
    const untold = await store.alerts.list({ states: ['waiting', 'given-up'], limit: Number.MAX_SAFE_INTEGER });
    const told = await store.alerts.list({ states: ['sent'], limit: LISTED });
    const rows = [...untold, ...told].sort((one, other) => other.createdAt - one.createdAt).map(rowOf);
    if (json) process.stdout.write(asJson(HEAD, rows));
    else
      process.stdout.write(
        rows.length === 0 ? `nobody was told anything, as far as ${storeName(config)} knows\n` : inColumns(HEAD, rows),
      );
  });

/** Ends with 1 where one of them did not take it. */
async function test(): Promise<void> {
  const { alerts: config, catalogueDirectory } = readAlertConfig(process.env);
  const { alerts } = loadCatalogue(catalogueDirectory, shipped).service;
  if (!alerts) throw new UsageProblem('service.yaml has no alerts: the README says how to write them');
  const problems = alertProblems(alerts, config);
  if (problems.length > 0 || config.secret === undefined) throw new ConfigProblem(problems);
  const delivery = await openDelivery({ secret: config.secret, allowsPrivate: config.allowsPrivate });
  const timestamp = new Date().toISOString();
  for (const { url } of alerts.webhooks) {
    const body = JSON.stringify({ type: 'test', timestamp, data: {} });
    const fault = await delivery.deliver({ occurrence: `test:${randomUUID()}`, receiver: url, body });
    process.stdout.write(`${new URL(url).host} ${fault ?? 'took it'}\n`);
    if (fault !== undefined) process.exitCode = 1;
  }
  await delivery.close();
}

await run(async () => {
  const options = {
    list: { type: 'boolean', default: false },
    test: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  } as const;
  const { values } = readCommandLine(USAGE, options, process.argv.slice(2));
  if (values.list === values.test || (values.test && values.json)) throw new UsageProblem(USAGE);
  await (values.list ? list(values.json) : test());
});
