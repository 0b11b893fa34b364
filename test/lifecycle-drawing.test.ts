/** The README's drawing of the lifecycle and the code say the same. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { problems } from '../src/errors.ts';
import { manual } from './manual.ts';

function drawing(): string {
  const [, drawn] = /```\n(a request [\s\S]*?)```/.exec(manual) ?? [];
  if (!drawn) throw new Error('The manual has no drawing of the lifecycle');
  return drawn;
}

/** Functions that put the steps together or hold two of them. */
const AROUND = new Set(['run', 'work', 'createLifecycle']);

t.test('every step is drawn, in the order in which the code has it', (t) => {
  const code = readFileSync('src/lifecycle/lifecycle.ts', 'utf8');
  const functions = code.matchAll(/^(?:export )?(?:(?:async )?function|const) (\w+)(?:\(| = (?:async )?\()/gm);
  const steps = [...functions].map(([, name = '']) => name).filter((name) => !AROUND.has(name));
  const drawn = [...drawing().matchAll(/^(\w+) +│$/gm)].map(([, name]) => name);
  t.same(drawn, steps);
  t.end();
});

t.test('every problem is drawn with its status, a defect of the gateway excepted', (t) => {
  const drawn = [...drawing().matchAll(/(\d{3}) (\w+_\w+|draining|refunded)/g)].map(([, status, code]) => [
    code,
    Number(status),
  ]);
  const { internal_error: _, ...expected } = problems;
  t.same(
    Object.fromEntries(drawn),
    Object.fromEntries(Object.entries(expected).map(([code, { status }]) => [code, status])),
  );
  t.end();
});
