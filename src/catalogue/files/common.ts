/** Pieces that the schemas of several catalogue files share. */
export const text = { type: 'string', minLength: 1 } as const;

export const duration = {
  type: 'string',
  pattern: '^[1-9][0-9]*(ms|s|m|h)$',
  description: 'write a duration such as 300ms, 30s or 10m',
} as const;

export const amount = { type: 'string', format: 'amount' } as const;

export const endpointPath = {
  type: 'string',
  pattern: '^(/[a-z0-9][a-z0-9._-]*)+$',
  description: 'a path starts with / and has lower-case letters, digits, ".", "_" and "-" between its slashes',
} as const;

/** The id of a network in `networks.yaml`. */
export const networkName = { ...text, 'x-names': 'network' } as const;

/** The same, of the family evm. */
export const evmNetworkName = { ...text, 'x-names': 'EVM network' } as const;

/** A tag of `service.yaml`. */
export const tagName = { ...text, 'x-names': 'tag' } as const;

/** A JSON Schema; its keywords are checked apart. */
export const anySchema = { type: 'object' } as const;
