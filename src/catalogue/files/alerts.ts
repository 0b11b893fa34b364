import { amount } from './common.ts';

/** What webhooks are told of; the README describes each. */
export const alertTypes = [
  'payment.settled',
  'result.owed',
  'refund.executed',
  'facilitator.down',
  'facilitator.up',
  'upstream.down',
  'upstream.up',
  'margin.negative',
  'signer.gas-low',
  'spend.daily',
  'revenue.daily',
  'credit.low',
] as const;

export type AlertType = (typeof alertTypes)[number];

/** Of an endpoint so many sales are remembered. */
export const MOST_SALES = 10_000;

const count = { type: 'integer', minimum: 1 } as const;

/** `alerts` of `service.yaml`: AlertsFile. */
export const alerts = {
  type: 'object',
  description: 'Who is told when something needs the operator, signed with TURNPIKE_ALERT_SECRET',
  required: ['webhooks'],
  additionalProperties: false,
  examples: [{ webhooks: [{ url: 'https://ops.example/turnpike' }], spendAbove: '100', gasBelow: 100 }],
  properties: {
    webhooks: {
      type: 'array',
      minItems: 1,
      description: 'Receivers, as Standard Webhooks has them',
      examples: [[{ url: 'https://ops.example/turnpike', events: ['result.owed', 'signer.gas-low'] }]],
      items: {
        type: 'object',
        required: ['url'],
        additionalProperties: false,
        properties: {
          url: {
            type: 'string',
            format: 'uri',
            pattern: '^https?://',
            'x-expected': 'write an https URL',
            description: 'Where it listens: https, and on the public internet',
            examples: ['https://ops.example/turnpike'],
          },
          events: {
            type: 'array',
            items: { enum: alertTypes },
            minItems: 1,
            uniqueItems: true,
            description: 'What it is told of; left out: everything but payment.settled',
            examples: [['result.owed', 'refund.executed']],
          },
        },
      },
    },
    spendAbove: {
      ...amount,
      description: 'spend.daily: what providers charged in a day of UTC, in dollars, reaches this',
      examples: ['100'],
    },
    revenueBelow: {
      ...amount,
      description: 'revenue.daily: a day of UTC has ended in which less than this was paid, in dollars',
      examples: ['20'],
    },
    marginOver: {
      ...count,
      maximum: MOST_SALES,
      description: 'margin.negative: so many last sales of an endpoint cost more than was paid for them',
      examples: [50],
    },
    gasBelow: {
      ...count,
      description: 'signer.gas-low: what a signer of this process has left pays for fewer settlements than this',
      examples: [100],
    },
    creditBelow: {
      ...amount,
      description: 'credit.low: an API key has less than this left, in dollars',
      examples: ['1.00'],
    },
  },
} as const;
