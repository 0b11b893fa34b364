import type { Server } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

const BUY = {
  name: 'buy',
  title: 'Find, price and buy',
  description: 'Has an agent find what does a task, ask its exact price, and buy it within a limit',
  arguments: [
    { name: 'task', description: 'What is needed', required: true },
    { name: 'limit', description: 'Dollars that may be spent at most: 0.50', required: false },
  ],
};

const instruction = (task: string, limit: string): string =>
  [
    `Task: ${task}`,
    'Find the endpoint that does this with search_endpoints, and read what it takes with describe_endpoint.',
    'Ask quote for the exact price of the arguments that you mean to send, and mend every fault that it names.',
    `Call it only if it costs no more than ${limit} USD in all; else say what it would cost and stop.`,
    'Where a call was paid and its answer was lost, send the same call with the same payment again: it is not charged twice.',
  ].join('\n');

export function servePrompts(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: [BUY] }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: given = {} } }) => {
    if (name !== BUY.name)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}: take buy`);
    const { task, limit = '1' } = given;
    if (!task) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'buy needs the argument task: what is needed');
    const text = instruction(task, limit);
    return {
      description: BUY.description,
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
    };
  });
}
