/**
 * Pieces that the schemas of several catalogue files share. `description` says what a key is; `x-expected` is what a mistake
 * in it is answered with, and `x-part` names what is described, and checked, in a place of its own.
 */
export const text = { type: 'string', minLength: 1 } as const;

/** In characters: what indexes of paid endpoints take of a name or a tag. Source: x402 specification version 2, `ResourceInfo`. */
export const LONGEST_LISTED = 32;

/** A name or a tag in those indexes. */
export const listedText = {
  type: 'string',
  pattern: `^[!-~]([ -~]{0,${LONGEST_LISTED - 2}}[!-~])?$`,
  'x-expected': `write 1 to ${LONGEST_LISTED} printable ASCII characters, with no space at either end`,
} as const;

export const duration = {
  type: 'string',
  pattern: '^[1-9][0-9]*(ms|s|m|h)$',
  'x-expected': 'write a duration such as 300ms, 30s or 10m',
  examples: ['30s'],
} as const;

export const amount = { type: 'string', format: 'amount', examples: ['0.05'] } as const;

export const endpointPath = {
  type: 'string',
  pattern: '^(/[a-z0-9][a-z0-9._-]*)+$',
  'x-expected': 'a path starts with / and has lower-case letters, digits, ".", "_" and "-" between its slashes',
  examples: ['/image/postcard'],
} as const;

/** The id of a network in `networks.yaml`. */
export const networkName = { ...text, 'x-names': 'network' } as const;

/** The same, of the family evm. */
export const evmNetworkName = { ...text, 'x-names': 'EVM network' } as const;

/** A tag of `service.yaml`. */
export const tagName = { ...text, 'x-names': 'tag' } as const;

/** A JSON Schema; its keywords are checked apart. */
export const anySchema = {
  type: 'object',
  'x-part': 'schema',
  examples: [{ required: ['prompt'], properties: { prompt: { $ref: 'prompt' } } }],
} as const;
