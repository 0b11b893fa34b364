const count = (description: string, usual: number) =>
  ({ type: 'integer', minimum: 1, default: usual, description }) as const;

/** `limits` of `service.yaml`: LimitsFile. */
export const limits = {
  type: 'object',
  description: 'What one caller may ask for; beyond it, it is answered 429 with Retry-After',
  additionalProperties: false,
  examples: [{ address: { unpaidPerMinute: 600 }, payer: { underWay: 50 } }],
  properties: {
    address: {
      type: 'object',
      description: 'Of one IPv4 address, or one IPv6 network of 64 bits',
      additionalProperties: false,
      examples: [{ unpaidPerMinute: 600 }],
      properties: {
        unpaidPerMinute: count(
          'Requests that come without a payment, or with one that nobody looks at; a long body counts as several',
          6_000,
        ),
        refusedPerMinute: count('Payments and keys that are refused; those with a long body count as several', 600),
        underWay: count('Calls with a payment or a key that are under way', 1_000),
      },
    },
    payer: {
      type: 'object',
      description: 'Of one payer, or one API key',
      additionalProperties: false,
      examples: [{ wastedPerDay: 50 }],
      properties: {
        failedPerMinute: count('Calls that the provider refuses for good, such as for their content', 120),
        wastedPerHour: count(
          'Settlements that are refused, have to be given back or cost more than they are worth, and calls with an API key that reach the deadline without a word',
          30,
        ),
        wastedPerDay: count('The same in a day', 100),
        underWay: count('Calls that are under way', 200),
      },
    },
  },
} as const;
