/** The report in columns. */
import { inColumns } from '../../src/cli/columns.ts';
import { toDecimal } from '../../src/money.ts';
import { type AttackFigures, type Latencies, lossOf, type Report, verdicts } from './report.ts';

const answersIn = (answers: ReadonlyMap<string, number>): string =>
  [...answers].map(([what, count]) => `${count}x ${what}`).join(', ');

const signed = (money: bigint): string => (money < 0n ? `-${toDecimal(-money)}` : toDecimal(money));

const attackRow = (figures: AttackFigures): string[] => {
  const { name, runs, calls, upstreamCalls, cost, paid, answers, kept } = figures;
  const outcome = `${answersIn(answers)}${kept > 0 ? `; ${kept} bytes kept` : ''}`;
  return [
    name,
    ...[runs, calls, upstreamCalls].map(String),
    signed(cost),
    signed(paid),
    signed(lossOf(figures)),
    outcome,
  ];
};

function quantile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((one, other) => one - other);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return value === undefined ? '-' : value.toFixed(0);
}

const latencyRow = ({ kind, after, upfront }: Latencies): string[] => {
  const all = after.length + upfront.length;
  const share = ((upfront.length / all) * 100).toFixed(1);
  const times = [after, upfront].flatMap((values) => [0.5, 0.95].map((quarter) => quantile(values, quarter)));
  return [kind, String(all), `${share} %`, ...times];
};

/** All of it, as text. */
export function inTables(report: Report): string {
  const { honest, attacks, seconds, loss, networks, upstreams } = report;
  const attackers = attacks.reduce((sum, { calls }) => sum + calls, 0);
  const share = (attackers / (attackers + honest.calls)) * 100;
  const upfront = honest.latencies.reduce((sum, each) => sum + each.upfront.length, 0);
  const paid = honest.latencies.reduce((sum, each) => sum + each.upfront.length + each.after.length, 0);
  const lines = [
    `${(seconds / 60).toFixed(1)} minutes, ${honest.calls + attackers} calls, ${share.toFixed(1)} % of them attackers'`,
    '',
    inColumns(['attack', 'times', 'calls', 'upstream', 'cost', 'paid', 'lost', 'answers'], attacks.map(attackRow)),
    `honest: ${honest.calls} calls, ${honest.served} served, revenue ${toDecimal(honest.revenue)}`,
    `  answers: ${answersIn(honest.answers)}`,
    `  failed by the provider: ${honest.failed}; charged for nothing: ${signed(honest.chargedForNothing)}; owed: ${toDecimal(honest.owed)}`,
    `  refused: ${honest.refusedFor.length}, until the same caller was served p50 ${quantile(honest.refusedFor, 0.5)} ms, longest ${quantile(honest.refusedFor, 1)} ms`,
    ...[...honest.refusals].map(
      ([what, { times, from, to }]) => `  ${times}x ${what} (minute ${from.toFixed(1)} to ${to.toFixed(1)})`,
    ),
    `  settled first: ${upfront} of ${paid} (${((upfront / Math.max(1, paid)) * 100).toFixed(1)} %)`,
    '',
    inColumns(
      ['endpoint, network', 'calls', 'first', 'after p50 ms', 'p95', 'first p50 ms', 'p95'],
      honest.latencies.map(latencyRow),
    ),
    ...[...networks].map(([name, { gained, paid: by }]) => `${name}: pay-to gained ${gained}, wallets paid ${by}`),
    ...[...upstreams].map(([name, { counted, passed }]) => `${name}: ${counted} calls counted, ${passed} passed`),
    ...[honest, ...attacks].flatMap(({ faults }) => faults.slice(0, 5).map((fault) => `fault: ${fault}`)),
    '',
    `lost ${toDecimal(loss)} of ${toDecimal(honest.revenue)}: ${((Number(loss) / Number(honest.revenue)) * 100).toFixed(2)} %`,
    ...verdicts(report).map(({ text, holds }) => `${holds ? 'yes' : 'NO '}  ${text}`),
  ];
  return `${lines.join('\n')}\n`;
}
