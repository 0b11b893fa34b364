/** The one call that every row is about: a shipped endpoint, paid in USDC on Base, and what its upstream answers. */

export const subject = {
  /** Priced by its input, so that a quote is computed for every request. */
  path: '/llm/vendor3-5.2',
  /** The same over the Model Context Protocol. */
  tool: 'llm_vendor3-5_2',
  body: JSON.stringify({ prompt: 'Why does fog scatter light?', tier: 'small' }),
  /** No prompt. */
  badBody: JSON.stringify({ tier: 'small' }),
} as const;

/** The same offer, for a peer that does not look it up. */
export const offer = {
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  domain: { name: 'USD Coin', version: '2' },
  amount: '14357',
  dollars: '0.014357',
  decimals: 6,
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  description: 'Text from a reasoning language model, with an optional image, priced by tier',
} as const;

/** The same as x402 (version 2) says it. */
export const accepted = {
  scheme: 'exact',
  network: offer.network,
  amount: offer.amount,
  asset: offer.asset,
  payTo: offer.payTo,
  maxTimeoutSeconds: 110,
  extra: offer.domain,
} as const;

/** What a chat host answers (OpenAI chat completions), always the same. */
export const completion = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'openai/gpt-5.2',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Fog scatters light because its droplets are larger than the wavelengths of light.',
      },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 17, total_tokens: 29 },
});

/** What the double streams slowly: plain calls are streamed upstream too, at once. */
export const SLOW_QUESTION = 'Why does fog lift slowly?';

/** One call with an API key, of a model that is priced by use. */
export const chat = {
  path: '/v1/chat/completions',
  model: 'vendor4-4.5',
  body: (stream: boolean): string =>
    JSON.stringify({
      model: chat.model,
      messages: [{ role: 'user', content: stream ? SLOW_QUESTION : 'Why does fog scatter light?' }],
      max_tokens: 100,
      stream,
    }),
} as const;

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'x-ai/grok-4.5', ...fields })}\n\n`;

/** The same as a stream: the first event, and those that follow. */
export const streamed = {
  first: chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Fog ' }, finish_reason: null }] }),
  rest:
    chunk({ choices: [{ index: 0, delta: { content: 'scatters light.' }, finish_reason: 'stop' }] }) +
    chunk({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 } }) +
    'data: [DONE]\n\n',
} as const;
