/** `GET /openapi/x402.json`: the x402 surface, mirrors included. */
import type { Route, ServiceFile } from '../../catalogue/types.ts';
import { type OpenApiDocument, openApiDocument, operation } from './openapi.ts';
import { type Payable, payableOn } from './payable.ts';
import { x402PaymentInfo } from './payment-info.ts';

const PAYMENT_HEADERS = {
  'PAYMENT-SIGNATURE': 'The payment in version 2: base64 of JSON; left out on the first call',
  'X-PAYMENT': 'The same in version 1, where no PAYMENT-SIGNATURE is sent',
};
const RECEIPT_HEADERS = {
  'PAYMENT-RESPONSE': 'How the payment settled: base64 of JSON',
  'X-PAYMENT-RESPONSE': 'The same in place of PAYMENT-RESPONSE, for a payment in version 1',
};
const CHALLENGE_HEADERS = { 'PAYMENT-REQUIRED': 'The challenge in version 2: base64 of JSON' };

const operationId = (path: string): string => `x402${path.replace(/[^A-Za-z0-9]+/g, '_')}`;

/** Every x402 route that some network pays for; operations are tagged with the endpoint's group. */
export function x402OpenApi(
  service: ServiceFile,
  routes: readonly Route[],
  payable: Payable,
  publicUrl: string,
): OpenApiDocument {
  const operations = routes.flatMap((route) => {
    const networks = payableOn(route, payable);
    const [method] = route.methods;
    if (route.rail !== 'x402' || networks.length === 0 || !method) return [];
    const made = operation(route, {
      operationId: operationId(route.path),
      tag: route.endpoint.group,
      method,
      payment: x402PaymentInfo(route, networks),
      paymentHeaders: PAYMENT_HEADERS,
      receiptHeaders: RECEIPT_HEADERS,
      challengeHeaders: CHALLENGE_HEADERS,
    });
    return [{ path: route.path, method, operation: made }];
  });
  const tags = [...new Set(operations.flatMap((sold) => sold.operation.tags))];
  return openApiDocument(service, publicUrl, { rail: 'x402', tags, operations });
}
