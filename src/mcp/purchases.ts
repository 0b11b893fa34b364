import type { Limits } from '../limits/limits.ts';
import type { PageRequest } from '../purchases/page.ts';
import type { Purchases } from '../purchases/purchases.ts';
import { answered, FREE, type OwnTool } from './own-tool.ts';

/** What a wallet bought, for who signs with it; without a proof, what has to be signed. */
export const purchasesTool = ({ challenge, list }: Purchases, limits: Pick<Limits, 'gate'>): OwnTool => ({
  definition: {
    name: 'purchases',
    title: 'What a wallet bought here',
    description:
      'Lists what a wallet bought, with amounts and transactions. Call it without a proof to get what the wallet has to sign (x402 extension sign-in-with-x), then again with the proof. Costs nothing.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        proof: {
          type: ['string', 'object'],
          description: 'What createSIWxPayload of @x402/extensions gives, as it is or in base64',
        },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
        before: { type: 'string', maxLength: 1024, description: '`next` of the page before' },
      },
    },
    annotations: FREE,
  },
  async call({ proof, ...page }, _meta, { client }) {
    if (proof === undefined) return answered({ extensions: { 'sign-in-with-x': challenge() } });
    const gate = limits.gate(client);
    return answered({ ...(await list(proof, page as PageRequest, gate).finally(gate.over)) });
  },
});
