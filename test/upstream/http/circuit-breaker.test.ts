import t from 'tap';
import { openCircuitBreaker } from '../../../src/upstream/http/circuit-breaker.ts';

function open(failures = 2) {
  const clock = { now: 0 };
  return { clock, circuit: openCircuitBreaker({ failures, coolDownMs: 100, probeMs: 20, now: () => clock.now }) };
}

t.test('opens after so many failures in a row, and says so once', async (t) => {
  const { circuit } = open();
  t.equal(circuit.report('failure'), false);
  t.equal(circuit.report('success'), false);
  t.equal(circuit.report('failure'), false);
  t.equal(circuit.report('failure'), true);
  t.equal(circuit.report('failure'), false);
  t.equal(circuit.allows(), false);
});

t.test('lets one probe through after the cool-down', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure');
  clock.now = 100;
  t.equal(circuit.allows(), true);
  t.equal(circuit.allows(), false);
  circuit.report('failure');
  t.equal(circuit.allows(), false, 'the failed probe starts another cool-down');
  clock.now = 200;
  t.equal(circuit.allows(), true);
  circuit.report('success');
  t.equal(circuit.allows(), true);
  t.equal(circuit.allows(), true);
});

t.test('gives the next caller the probe when one is abandoned', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure');
  clock.now = 100;
  circuit.allows();
  circuit.report('abandoned');
  t.equal(circuit.allows(), true);
});

t.test('counts the failures of one caller once, and those of others each', async (t) => {
  const { circuit } = open(3);
  for (let call = 0; call < 12; call += 1) circuit.report('failure', 'attacker');
  t.equal(circuit.allows('honest'), true);
  t.equal(circuit.report('failure', 'second'), false);
  t.equal(circuit.report('failure', 'third'), true);
  t.equal(circuit.allows('honest'), false);
});

t.test('passes the probe on when it has no answer soon, to another caller', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure', 'attacker');
  clock.now = 100;
  t.equal(circuit.allows('attacker'), true);
  t.equal(circuit.allows('honest'), false);
  clock.now = 120;
  t.equal(circuit.allows('attacker'), false, 'it has a probe without an answer');
  t.equal(circuit.allows('honest'), true);
  circuit.report('success', 'honest');
  t.equal(circuit.allows('anyone'), true);
});

t.test('a probe that fails after its time keeps nobody waiting', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure', 'first');
  clock.now = 100;
  circuit.allows('slow');
  clock.now = 120;
  circuit.report('failure', 'slow');
  t.equal(circuit.allows('honest'), true);
});

t.test('whose probe failed waits longer than others for the next', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure', 'first');
  clock.now = 100;
  circuit.allows('attacker');
  circuit.report('failure', 'attacker');
  clock.now = 200;
  t.equal(circuit.allows('attacker'), false);
  t.equal(circuit.allows('honest'), true);
  circuit.report('abandoned', 'honest');
  clock.now = 300;
  t.equal(circuit.allows('attacker'), true);
});

t.test('calls that began before it opened do not keep it open', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure', 'first');
  clock.now = 99;
  circuit.report('failure', 'late');
  clock.now = 100;
  t.equal(circuit.allows('honest'), true);
});

t.test('is open from the failure that opened it until a probe succeeds', async (t) => {
  const { circuit, clock } = open(1);
  t.equal(circuit.isOpen(), false);
  circuit.report('failure');
  t.equal(circuit.isOpen(), true);
  clock.now = 100;
  circuit.allows();
  t.equal(circuit.isOpen(), true, 'also while it is probed');
  circuit.report('success');
  t.equal(circuit.isOpen(), false);
});

t.test('allows as many calls at the same time as anybody makes while it is closed', async (t) => {
  const { circuit } = open();
  for (const caller of ['one', 'one', undefined, undefined]) t.equal(circuit.allows(caller), true);
});

t.test('hears of calls that were abandoned, and makes nothing of them', async (t) => {
  const { circuit } = open(1);
  t.equal(circuit.report('abandoned', 'one'), false);
  t.equal(circuit.allows('one'), true);
});

t.test('says only of the failure that opened it that it did', async (t) => {
  const { circuit, clock } = open(1);
  t.equal(circuit.report('failure', 'first'), true);
  clock.now = 100;
  circuit.allows('prober');
  t.equal(circuit.report('failure', 'prober'), false);
  clock.now = 200;
  circuit.allows('other');
  t.equal(circuit.report('success', 'other'), false);
  t.equal(circuit.report('failure', 'first'), true);
});

t.test('passes the probe on where it is nobody’s, too', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure');
  clock.now = 100;
  t.equal(circuit.allows(), true);
  clock.now = 119;
  t.equal(circuit.allows(), false);
  clock.now = 120;
  t.equal(circuit.allows(), true);
});

t.test('whose probe was abandoned may probe again', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure', 'first');
  clock.now = 100;
  t.equal(circuit.allows('one'), true);
  circuit.report('abandoned', 'one');
  t.equal(circuit.allows('one'), true);
});

t.test('waits for the probe, whatever becomes of the calls of others', async (t) => {
  for (const ended of ['failure', 'abandoned'] as const) {
    const { circuit, clock } = open(1);
    circuit.report('failure', 'first');
    clock.now = 100;
    circuit.allows('prober');
    clock.now = 105;
    circuit.report(ended, 'late');
    t.equal(circuit.allows('third'), false, 'one probe at a time');
    circuit.report('abandoned', 'prober');
    t.equal(circuit.allows('third'), true, 'no other cool-down');
  }
});

t.test('forgets all probes once it is closed again', async (t) => {
  const { circuit, clock } = open(1);
  circuit.report('failure', 'first');
  clock.now = 100;
  circuit.allows('failing');
  circuit.report('failure', 'failing');
  clock.now = 200;
  circuit.allows('silent');
  clock.now = 220;
  circuit.allows('slow');
  clock.now = 230;
  circuit.report('success', 'late');
  circuit.report('failure', 'second');
  clock.now = 235;
  circuit.report('failure', 'slow');
  clock.now = 329;
  t.equal(circuit.allows('honest'), false);
  clock.now = 330;
  t.equal(circuit.allows('silent'), true, 'it may probe again, and what came late did not prolong the wait');
  circuit.report('abandoned', 'silent');
  t.equal(circuit.allows('failing'), true, 'it waits no longer than others');
});
