/** Half a minute of honest callers, and every attack once beside them. */
import t from 'tap';
import { crowd } from './crowd.ts';
import { type AttackFigures, BOUNDS, lossOf, verdicts } from './report.ts';
import { inTables } from './table.ts';

const found = await crowd({ seconds: 20, rate: 2, isShort: { directory: t.testdir() } });

/** Attacks that get no work for nothing, by the beginning of their names. */
const FRUITLESS = [
  'contract wallet',
  'forty authorizations',
  'API key: ',
  'dense text',
  'Lighthouse',
  'gas-burning',
  'streams that hold',
  'many unpaid calls',
  'facilitator says no',
  'one authorization',
];

/** An estimate of what was streamed may be a few tokens off: a tenth of a cent. */
const LEAST_LOSS = 1_000n;

const named = (start: string): AttackFigures[] => found.attacks.filter(({ name }) => name.startsWith(start));

t.test('every attack is made, and none takes more than a new payer may have under way', (t) => {
  for (const figures of found.attacks) {
    t.equal(figures.runs, 1, figures.name);
    t.ok(figures.calls > 0, figures.name);
    t.same(figures.faults, [], figures.name);
    t.ok(lossOf(figures) <= BOUNDS.unproven, figures.name);
  }
  t.ok(found.loss <= BOUNDS.perHour);
  t.end();
});

t.test('what can be refused without any work is', (t) => {
  for (const start of FRUITLESS) {
    const attacks = named(start);
    t.not(attacks.length, 0, start);
    for (const figures of attacks) t.ok(lossOf(figures) < LEAST_LOSS, figures.name, { lost: lossOf(figures) });
  }
  for (const start of ['contract wallet', 'Lighthouse', 'gas-burning', 'many unpaid calls', 'files that']) {
    t.equal(named(start)[0]?.upstreamCalls, 0, start);
  }
  for (const start of ['forty authorizations', 'one authorization']) {
    t.equal(named(start)[0]?.upstreamCalls, 1, start);
  }
  // On a busy machine the first of the two may come too late already.
  t.ok(Number(named('resent')[0]?.upstreamCalls) <= 1, 'resent');
  t.end();
});

t.test('who pays honestly is served soon, and pays for nothing else', (t) => {
  t.not(found.honest.served, 0);
  // On a slow machine a payer's next call may come before the one under way has ended, and is told to settle first.
  const slow = /this payer has as much under way as it may/;
  t.same(
    [...found.honest.refusals].filter(([refusal]) => !slow.test(refusal)),
    [],
  );
  // So short a time does not earn enough for a share of it, and how long anything takes is the machine's.
  const others = verdicts(found).filter(({ text }) => !/per cent|seconds/.test(text));
  t.equal(others.length, 4);
  for (const { text, holds } of others) t.ok(holds, text);
  if (!t.passing()) t.comment(inTables(found));
  t.end();
});
