import t from 'tap';
import { openCircuitBreaker } from '../../../src/upstream/http/circuit-breaker.ts';

function open(failures = 2) {
  const clock = { now: 0 };
  return { clock, circuit: openCircuitBreaker({ failures, coolDownMs: 100, now: () => clock.now }) };
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
