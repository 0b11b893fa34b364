import t from 'tap';
import { openPace } from '../../src/upstream/pace.ts';

const SECONDS = 50_000;
const slow = { promptTokens: 100, tokens: 1000, ms: 50_000 };

t.test('asks an unmeasured model for the shipped tiers, and for nothing that no deadline allows', async (t) => {
  const most = openPace().mostTokens('sage', SECONDS);
  t.ok(most >= 8192);
  t.ok(most < 128_000);
});

t.test('asks a slow model for less, and others for as much as before', async (t) => {
  const pace = openPace();
  const before = pace.mostTokens('quick', SECONDS);
  for (const caller of ['one', 'two', 'three']) pace.observe('sage', { caller, ...slow });
  t.equal(pace.mostTokens('sage', SECONDS), 900, '0.9 of 20 tokens a second');
  t.equal(pace.mostTokens('sage', 2 * SECONDS), 1800);
  t.equal(pace.mostTokens('quick', SECONDS), before);
});

t.test('one caller alone, and short answers, say nothing of the pace', async (t) => {
  const pace = openPace();
  const before = pace.mostTokens('sage', SECONDS);
  for (let call = 0; call < 20; call += 1) {
    pace.observe('sage', { caller: 'attacker', ...slow });
    pace.observe('sage', { caller: `caller ${call}`, promptTokens: 5, tokens: 5, ms: 10_000 });
  }
  t.equal(pace.mostTokens('sage', SECONDS), before);
});

t.test('answers to long prompts say nothing of the pace, however many send them', async (t) => {
  const pace = openPace();
  const before = pace.mostTokens('sage', SECONDS);
  for (let caller = 0; caller < 16; caller += 1) {
    pace.observe('sage', { caller: `reader ${caller}`, promptTokens: 500_000, tokens: 300, ms: 40_000 });
  }
  t.equal(pace.mostTokens('sage', SECONDS), before);
});

t.test('forgets what was long ago', async (t) => {
  const pace = openPace();
  for (let caller = 0; caller < 16; caller += 1) pace.observe('sage', { caller: `slow ${caller}`, ...slow });
  for (let caller = 0; caller < 16; caller += 1) {
    pace.observe('sage', { caller: `fast ${caller}`, promptTokens: 100, tokens: 10_000, ms: 10_000 });
  }
  t.equal(pace.mostTokens('sage', SECONDS), 45_000);
});

t.test('never asks for next to nothing', async (t) => {
  t.equal(openPace().mostTokens('sage', -5), 256);
});
