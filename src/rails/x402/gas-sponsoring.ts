/**
 * The extension `eip2612GasSponsoring`: who pays through Permit2 and has not approved it adds a permit of the token, which
 * is handed in with the payment. Source: x402 specifications, extension `eip2612GasSponsoring`.
 */
import type { JsonObject } from '../../json.ts';
import type { Authorization } from '../../payment/authorizations/authorization.ts';
import { type Approval, readApproval } from '../../payment/authorizations/eip2612.ts';
import { isPermit2 } from '../../payment/authorizations/permit2.ts';
import type { PayableNetwork } from '../../payment/networks.ts';
import { infoIn } from './extension.ts';

const NAME = 'eip2612GasSponsoring';
const FIELDS = ['from', 'asset', 'spender', 'amount', 'nonce', 'deadline', 'signature', 'version'];

/** As it stands in challenges. Clients add to `info` what they sign. */
export const gasSponsoringExtension = {
  [NAME]: {
    info: { description: 'Permit2 may be approved by a permit (EIP-2612), sent with the payment', version: '1' },
    schema: {
      type: 'object',
      properties: Object.fromEntries(FIELDS.map((field) => [field, { type: 'string' }])),
      required: FIELDS,
    },
  },
};

/**
 * The permit that a payment carries, if any: clients that need none echo the extension as it was. Throws Refusal
 * `malformed-credential`.
 */
export function readSponsored(payment: JsonObject): Approval | undefined {
  const info = infoIn(payment, NAME);
  return info?.signature !== undefined ? readApproval(info, `extensions.${NAME}.info`) : undefined;
}

/** The permit that is handed in with the payment, where that is done. */
export const approvalFor = (authorization: Authorization, { takesApprovals }: PayableNetwork): Approval | undefined =>
  takesApprovals && isPermit2(authorization) ? authorization.approval : undefined;

/** What the facilitator is told of a permit. */
export const sponsoredExtension = ({ info }: Approval): object => ({ [NAME]: { info } });
