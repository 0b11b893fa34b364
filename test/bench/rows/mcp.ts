import { loadRow } from '../row.ts';
import { subject } from '../subject.ts';

const { path, body, tool } = subject;

/** A tool call over the Model Context Protocol, beside the same over HTTP. */
export const mcp = loadRow('mcp', { path, body, tool, payment: 'mcp', expects: 200 }, async (bench) => {
  const server = await bench.gateway();
  return {
    ours: { server },
    beside: [{ who: 'turnpike over HTTP', target: { server, payment: 'x402' }, goal: { times: 0.77 } }],
  };
});
