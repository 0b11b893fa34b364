/** What is held and charged for a caller's functions, before which some providers put words of their own. */
import t from 'tap';
import { openFunded } from './funded.ts';

const clock = { name: 'clock', parameters: { type: 'object', properties: {} } };
const messages = [{ role: 'user', content: 'Hello' }];

for (const functions of [{ tools: [{ type: 'function', function: clock }] }, { functions: [clock] }]) {
  const kind = Object.keys(functions)[0];
  t.test(`a call with ${kind} is charged at what its provider counted, its own words among it`, async (t) => {
    const { ask, charged } = await openFunded(t, (response) => {
      const usage = { prompt_tokens: 575, completion_tokens: 1, total_tokens: 576 };
      const choices = [{ index: 0, message: { role: 'assistant', content: '1' }, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices, usage }));
    });
    t.equal((await ask({ max_tokens: 1, messages, ...functions })).status, 200);
    t.equal(await charged(), 1274n, '575 tokens at 2.20 dollars a million, and one at 8.80');
  });
}
