/** A model that reasons until its tier is used up has written nothing, and nothing is charged for that. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { stoppedClock } from '../../stopped-clock.ts';

/** Reasons with whatever it is given, as long as it is asked to reason hard. */
const provider = createServer(async (incoming, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { reasoning, reasoning_effort, ...asked } = JSON.parse(Buffer.concat(chunks).toString());
  const isHard = (reasoning?.effort ?? reasoning_effort) === 'high';
  const tokens = isHard ? Number(asked.max_completion_tokens ?? asked.max_tokens) : 2;
  const message = { role: 'assistant', content: isHard ? '' : 'Because.' };
  const completion = {
    id: 'gen-1',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: isHard ? 'length' : 'stop' }],
    usage: {
      prompt_tokens: 5,
      completion_tokens: tokens,
      total_tokens: 5 + tokens,
      completion_tokens_details: { reasoning_tokens: isHard ? tokens : 0 },
    },
  };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(completion));
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
t.teardown(() => provider.close().closeAllConnections());

const gateway = await startGateway({
  networks: ['chain-a', 'chain-c'],
  solanaNow: stoppedClock(),
  upstreams: { chat: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
});
t.teardown(gateway.stop);

const ask = (effort: string, tier: string) =>
  request(gateway, '/llm/vendor3-5.2', { prompt: 'Why does fog scatter light?', tier, reasoning_effort: effort });

/** On chain-a a payment does not outlive what the larger tiers may take: those settle first. */
const SETTLES_AFTER = { 'chain-a': { small: 1024 }, 'chain-c': { small: 1024, medium: 4096, large: 8192 } };

for (const [network, tiers] of Object.entries(SETTLES_AFTER)) {
  for (const [tier, tokens] of Object.entries(tiers)) {
    t.test(
      `a ${tier} tier that reasoning used up is not charged on ${network}, and the caller learns why`,
      async (t) => {
        const earned = await gateway.earned(network);
        const answer = await payV2(gateway, network, ask('high', tier));
        t.equal(answer.status, 400);
        t.equal(answer.headers.get('payment-response'), null);
        t.match(await answer.json(), {
          error: {
            code: 'invalid_request',
            message: new RegExp(
              `the ${tokens} tokens of the tier ${tier} for reasoning and wrote nothing.*larger tier`,
            ),
          },
        });
        t.equal(await gateway.earned(network), earned);
        t.equal((await payV2(gateway, network, ask('low', tier))).status, 200, 'a lower effort is answered');
        t.ok((await gateway.earned(network)) > earned);
      },
    );
  }
}
