import type { JsonObject } from '../../json.ts';
import type { RailDeclaration } from '../rails.ts';
import { alerts } from './alerts.ts';
import { amount, listedText, networkName, text } from './common.ts';
import { limits } from './limits.ts';

/** One block for each rail that has options there. */
const railOptions = (rails: readonly RailDeclaration[]): JsonObject =>
  Object.fromEntries(
    rails.flatMap(({ name, title, serviceOptions }) =>
      serviceOptions
        ? [[name, { description: `Of ${title}`, ...serviceOptions, type: 'object', additionalProperties: false }]]
        : [],
    ),
  );

const exposure = {
  type: 'object',
  description: 'What may be at risk before payments are sure; beyond it, payments settle before the work',
  additionalProperties: false,
  properties: {
    perPayer: {
      ...amount,
      default: '2.00',
      description: 'What a payer may have under way before it settles first',
    },
    new: {
      ...amount,
      default: '0.50',
      description: 'What of that may go beyond what the payer settled before on the network',
    },
    perHour: {
      ...amount,
      default: '2.00',
      description: 'The same for all payers together, with the losses of the last hour',
    },
    lossLimit: {
      ...amount,
      default: '5.00',
      description: 'Losses of an hour on a network or at an endpoint after which it settles first',
    },
    hold: {
      type: 'boolean',
      default: false,
      description:
        'Where a payment would settle first, lock its money instead and take it after the work: x402 `auth-capture`, on networks with its escrow and a key of ours',
      examples: [true],
    },
    channels: {
      type: 'boolean',
      default: false,
      description:
        'Let calls be drawn from a deposit that was made before, at prices down to one atomic unit: x402 `batch-settlement`, on networks with its contract and a key of ours',
      examples: [true],
    },
    settleUpfront: {
      type: 'object',
      description: 'What settles before the work whatever is at risk',
      additionalProperties: false,
      properties: {
        above: { ...amount, default: '1.00', description: 'Calls that cost more settle first' },
        contracts: { type: 'boolean', default: true, description: 'Contract wallets settle first' },
        afterFailures: {
          type: 'integer',
          minimum: 1,
          default: 2,
          description: 'So many failed settlements in a day make a payer settle first',
        },
      },
    },
  },
} as const;

const colour = {
  type: 'string',
  pattern: '^#[0-9a-f]{6}$',
  'x-expected': 'write # and six hexadecimal digits in small letters, in quotes, such as "#17509c"',
} as const;

const kept = {
  type: 'string',
  pattern: '^([1-9][0-9]{0,4}d|forever)$',
  'x-expected': 'write days, such as 90d, or forever',
  default: 'forever',
} as const;

/** `catalogue/service.yaml`: ServiceFile. */
export const serviceFileSchema = (rails: readonly RailDeclaration[]): JsonObject => ({
  type: 'object',
  required: ['name', 'description', 'tags', 'instructions', 'defaultNetwork'],
  additionalProperties: false,
  properties: {
    name: { ...text, description: 'What the service is called' },
    description: { ...text, description: 'What it sells, for people' },
    shortName: {
      ...listedText,
      description:
        'Its name in indexes of x402 endpoints (32 ASCII characters); the beginning of the name unless given',
      examples: ['Shop'],
    },
    icon: {
      type: 'string',
      format: 'uri',
      pattern: '^https://[!-~]{1,192}$',
      'x-expected': 'write an https URL of at most 200 characters',
      description: 'Its picture in the same indexes; the /icon.svg of the gateway unless given',
      examples: ['https://shop.example/icon.png'],
    },
    keywords: {
      type: 'array',
      items: listedText,
      maxItems: 4,
      uniqueItems: true,
      'x-expected': 'write at most four, none of them twice: with the group they are the five tags that indexes take',
      description: 'What every endpoint is found under there, besides its group',
      examples: [['pictures', 'prices']],
    },
    license: {
      type: 'object',
      required: ['name', 'url'],
      additionalProperties: false,
      description: 'On what terms it may be used, for the OpenAPI documents; they name /llms.txt unless given',
      properties: {
        name: { ...text, description: 'What the terms are called', examples: ['Terms of use'] },
        url: {
          type: 'string',
          format: 'uri',
          pattern: '^https:',
          'x-expected': 'write an https URL',
          description: 'Where they stand',
          examples: ['https://shop.example/terms'],
        },
      },
      examples: [{ name: 'Terms of use', url: 'https://shop.example/terms' }],
    },
    contact: {
      type: 'object',
      description: 'Who runs it',
      additionalProperties: false,
      properties: {
        name: { ...text, description: 'Their name', examples: ['Shop'] },
        url: { type: 'string', format: 'uri', description: 'Their page', examples: ['https://shop.example'] },
        email: { type: 'string', format: 'email', description: 'Their address', examples: ['ask@shop.example'] },
      },
      examples: [{ name: 'Shop', email: 'ask@shop.example' }],
    },
    security: {
      type: 'object',
      required: ['contact'],
      additionalProperties: false,
      description: 'Whom to tell of a weakness, in /.well-known/security.txt',
      properties: {
        contact: {
          type: 'array',
          items: {
            type: 'string',
            format: 'uri',
            pattern: '^(mailto|https|tel):',
            'x-expected': 'write an address as mailto:..., https://... or tel:...',
          },
          minItems: 1,
          description: 'Addresses, the preferred one first: mailto:..., https://... or tel:...',
          examples: [['mailto:security@shop.example']],
        },
        policy: {
          type: 'string',
          format: 'uri',
          pattern: '^https:',
          'x-expected': 'write an https URL',
          description: 'Where the rules for reports stand',
          examples: ['https://shop.example/security'],
        },
      },
      examples: [{ contact: ['mailto:security@shop.example'] }],
    },
    brand: {
      type: 'object',
      required: ['accent'],
      additionalProperties: false,
      description: 'Colours of the pages that people see',
      properties: {
        accent: { ...colour, description: 'Of links and buttons on a light page', examples: ['#17509c'] },
        accentOnDark: { ...colour, description: 'The same on a dark page; default: accent', examples: ['#8fb8ff'] },
      },
      examples: [{ accent: '#17509c', accentOnDark: '#8fb8ff' }],
    },
    tags: {
      type: 'array',
      items: text,
      minItems: 1,
      uniqueItems: true,
      description: 'What operations are listed under',
    },
    instructions: { ...text, description: 'How to buy here, for agents: part of /llms.txt and other documents' },
    clientPackage: {
      type: 'string',
      pattern: '^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$',
      maxLength: 214,
      'x-expected': 'write the name of an npm package, such as "@acme/turnpike"',
      description:
        'The npm package as which you published these sources (npm publish): what pages have buyers run. Name none that is not yours. Left out: pages tell of a copy of the sources',
      examples: ['@acme/turnpike'],
    },
    ownershipProofs: {
      type: 'array',
      items: text,
      description: 'Signatures that npm run prove-ownership made, for resource listings',
      examples: [['0x5c1f...']],
    },
    defaultNetwork: { ...networkName, description: 'Where an endpoint is paid that names no networks' },
    highestPrice: {
      ...amount,
      description: 'What one call may cost at most, against slips of the pen',
    },
    exposure,
    limits,
    alerts,
    refunds: {
      type: ['string', 'object'],
      default: 'manual',
      description:
        'automatic: what is paid and cannot be delivered is given back by itself, a refusal of the provider at once, other failures after 20 attempts or a day; manual: by npm run refund',
      examples: ['automatic', { automatic: true, endpoint: true }],
      oneOf: [{ enum: ['manual', 'automatic'] }, { type: 'object' }],
      additionalProperties: false,
      properties: {
        automatic: { type: 'boolean', default: false, description: 'The same as automatic in place of the object' },
        endpoint: {
          type: 'boolean',
          default: false,
          description: 'Payers may ask for what is owed to them at /v1/refunds (draft x402 extension refund)',
        },
      },
    },
    receipts: {
      type: 'string',
      enum: ['plain', 'signed'],
      default: 'plain',
      description:
        'signed: receipts of x402 payments prove to others what was bought here (extension offer-receipt), with the key that /.well-known/did.json shows',
      examples: ['signed'],
    },
    keep: {
      type: 'object',
      description: 'How long things are kept; what is owed, under way or unknown stays in any case',
      additionalProperties: false,
      examples: [{ answers: '30d', payments: 'forever', media: '60d' }],
      properties: {
        answers: {
          type: 'string',
          pattern: '^[1-9][0-9]{0,4}d$',
          'x-expected': 'write days, such as 90d',
          default: '30d',
          description: 'Days, such as 90d: for so long the same payment gets its answer again',
          examples: ['90d'],
        },
        payments: {
          ...kept,
          description:
            'Days or forever: what was paid, given back and refused, with its receipts: at least 30d, and as long as answers',
          examples: ['3650d'],
        },
        media: {
          ...kept,
          description:
            'Days or forever: files in the data directory, which answers point at: at least as long as answers. A bucket has rules of its own',
          examples: ['60d'],
        },
      },
    },
    mcp: {
      type: 'object',
      description: 'The door for the Model Context Protocol, /mcp',
      additionalProperties: false,
      examples: [{ origins: ['inspector.example'] }],
      properties: {
        origins: {
          type: 'array',
          items: {
            type: 'string',
            // As a URL has it: it is compared with that of the page's own origin.
            pattern: '^(?:\\*|[a-z0-9._-]+|\\[[0-9a-f:.]+\\])$',
            'x-expected': 'write a host name alone, in small letters, such as inspector.example, or "*" for all',
          },
          description:
            'Host names of web pages that may use /mcp in a browser, besides those of the gateway and of this machine; "*" for all',
          examples: [['inspector.example']],
        },
      },
    },
    openapi: {
      type: 'object',
      description: 'What /openapi.json lists besides',
      examples: [{ x402: true }],
      additionalProperties: false,
      properties: {
        x402: {
          type: 'boolean',
          default: false,
          description: 'List the x402 operations in /openapi.json as well, for clients that read nothing else',
        },
      },
    },
    rails: {
      type: 'object',
      description: 'Options of the rails',
      additionalProperties: false,
      properties: railOptions(rails),
    },
  },
});
