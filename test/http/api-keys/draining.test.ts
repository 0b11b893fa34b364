/** What callers with an API key are told at the end of a drain. */
import t from 'tap';
import { arrival, begin, dataOf, openWithProvider } from './slow-provider.ts';

t.test(
  'a call that the gateway stops for its own end says so, costs nothing, and may be sent again at once',
  async (t) => {
    const gateway = await openWithProvider(t);
    const answers = [gateway.ask(), gateway.ask({ stream: true })];
    await arrival();
    await arrival();
    const streamed = gateway.ask({ stream: true });
    begin(await arrival()).write(': still thinking\n\n');
    const begun = await streamed;
    const { held_usd: held } = await gateway.credits();
    t.not(held, '0');
    const stopped = gateway.stop();
    const draining = { code: 'draining', message: /shutting down, and nothing was charged/ };
    for (const answer of await Promise.all(answers)) {
      t.equal(answer.status, 503);
      t.match(answer.headers.get('retry-after'), /^\d+$/);
      t.match(await answer.json(), { error: draining });
    }
    t.match(
      JSON.parse(dataOf(await begun.text()).at(-1) ?? ''),
      { error: draining },
      'also in a stream that has begun',
    );
    await stopped;
  },
);
