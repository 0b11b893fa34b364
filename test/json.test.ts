import t from 'tap';
import { secondsOrNull } from '../src/json.ts';

t.test('seconds are those of a day that has a date', async (t) => {
  t.equal(secondsOrNull(1_780_272_000), 1_780_272_000);
  t.equal(secondsOrNull(0), 0);
  for (const none of [1e17, Number.NaN, Number.POSITIVE_INFINITY, '1780272000', null, undefined]) {
    t.equal(secondsOrNull(none), null, String(none));
  }
});
