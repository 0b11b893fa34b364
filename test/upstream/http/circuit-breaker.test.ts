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
