/** `GET /openapi/x402.json`: what is sold over x402, mirrors included. */
import type { Route } from '../../../catalogue/types.ts';
import { type OpenApiSurface, operation } from '../../../discovery/openapi.ts';
import { paymentRequired } from '../../../discovery/openapi-components.ts';
import { type Payable, payableOn } from '../../../discovery/payable.ts';
import type { ExposurePolicy } from '../../../payment/exposure/policy.ts';
import { x402PaymentInfo } from './payment-info.ts';

const PAYMENT_HEADERS = {
  'PAYMENT-SIGNATURE': 'The payment in version 2: base64 of JSON; left out on the first call',
  'X-PAYMENT': 'The same, in version 2 or 1, where no PAYMENT-SIGNATURE is sent',
};
const RECEIPT_HEADERS = {
  'PAYMENT-RESPONSE': 'How the payment settled: base64 of JSON',
  'X-PAYMENT-RESPONSE': 'The same in place of PAYMENT-RESPONSE, for a payment in version 1',
};
const CHALLENGE_HEADERS = { 'PAYMENT-REQUIRED': 'The challenge in version 2: base64 of JSON' };

const text = { type: 'string' } as const;

const acceptsEntry = {
  type: 'object',
  required: ['scheme', 'network', 'amount', 'maxAmountRequired', 'asset', 'payTo', 'maxTimeoutSeconds', 'resource'],
  properties: {
    scheme: text,
    network: { ...text, description: 'The network by its name in version 1' },
    amount: { ...text, description: 'Atomic units of the asset' },
    maxAmountRequired: { ...text, description: 'The same under its name in version 1' },
    asset: { ...text, description: 'Token address' },
    payTo: text,
    maxTimeoutSeconds: { type: 'integer' },
    resource: { ...text, format: 'uri' },
    description: text,
    mimeType: text,
    extra: { type: 'object', additionalProperties: true },
  },
} as const;

const offer = {
  type: 'object',
  required: ['scheme', 'network', 'amount', 'asset', 'payTo', 'maxTimeoutSeconds', 'extra'],
  properties: {
    scheme: text,
    network: { ...text, description: 'The network by its CAIP-2 id' },
    amount: { ...text, description: 'Atomic units of the asset' },
    asset: { ...text, description: 'Token address' },
    payTo: text,
    maxTimeoutSeconds: { type: 'integer' },
    extra: { type: 'object', additionalProperties: true },
  },
} as const;

/** The problem together with the challenge of version 1. Version 2 has its own in the header PAYMENT-REQUIRED. */
const challenge = {
  ...paymentRequired,
  required: [...paymentRequired.required, 'x402Version', 'error', 'accepts', 'offers'],
  properties: {
    ...paymentRequired.properties,
    x402Version: { type: 'integer', const: 1 },
    error: text,
    accepts: { type: 'array', items: acceptsEntry },
    offers: {
      type: 'array',
      items: offer,
      description: 'Every way to pay, in the words of version 2: as PAYMENT-REQUIRED has it',
    },
  },
} as const;

/** Of paths that differ only in what no name may have, the later ones are told apart by what stands behind. */
function operationIds(): (path: string) => string {
  const taken = new Set<string>();
  return (path) => {
    let id = `x402${path.replace(/[^A-Za-z0-9]+/g, '_')}`;
    while (taken.has(id)) id += '_';
    taken.add(id);
    return id;
  };
}

/** Of the routes, those that some network pays for; operations are tagged with the endpoint's group. */
export function x402OpenApi(routes: readonly Route[], payable: Payable, policy: ExposurePolicy): OpenApiSurface {
  const operationId = operationIds();
  const operations = routes.flatMap((route) => {
    const networks = payableOn(route, payable);
    const [method] = route.methods;
    if (networks.length === 0 || !method) return [];
    const made = operation(route, {
      operationId: operationId(route.path),
      tag: route.endpoint.group,
      method,
      payment: x402PaymentInfo(route, networks, policy),
      paymentHeaders: PAYMENT_HEADERS,
      receiptHeaders: RECEIPT_HEADERS,
      challengeHeaders: CHALLENGE_HEADERS,
    });
    return [{ path: route.path, method, operation: made }];
  });
  return {
    rail: 'x402',
    tags: [...new Set(operations.flatMap((sold) => sold.operation.tags))],
    operations,
    security: {
      type: 'apiKey',
      in: 'header',
      name: 'PAYMENT-SIGNATURE',
      description:
        'x402: a payment signed for one entry of accepts in the 402, base64 of JSON; X-PAYMENT takes the same',
    },
    paymentRequired: challenge,
    failureTypes: ['application/json'],
  };
}
