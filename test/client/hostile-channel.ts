/** A gateway that says what it likes of a deposit, and a client that may lend it a dollar. */
import type { Test } from 'tap';
import type { ClientOptions } from '../../src/client/index.ts';
import { encoded, type Hostile, honest, openClient, startHostile } from './hostile-gateway.ts';

const MISMATCH = 'invalid_batch_settlement_evm_cumulative_amount_mismatch';
export const BUSY = 'invalid_batch_settlement_evm_channel_busy';
export const PRICE = 50_000n;

export const drawn = (terms: object = {}, others: object = {}) => ({
  ...honest,
  scheme: 'batch-settlement',
  ...others,
  extra: {
    ...honest.extra,
    receiverAuthorizer: '0x3333333333333333333333333333333333333333',
    withdrawDelay: 86_400,
    minDeposit: '500000',
    ...terms,
  },
});

interface Typed {
  readonly primaryType: string;
  readonly domain: object;
  readonly message: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly payload: {
    readonly type: string;
    readonly channelConfig: Readonly<Record<string, unknown>>;
    readonly voucher: {
      readonly channelId: `0x${string}`;
      readonly maxClaimableAmount: string;
      readonly signature: `0x${string}`;
    };
    readonly deposit?: {
      readonly amount: string;
      readonly authorization: { readonly erc3009Authorization: { readonly salt: string } };
    };
  };
}

/** A client that may lend a dollar, and what it signed and sent. */
export async function openChannel(t: Test, options: Partial<ClientOptions> = {}) {
  const gateway = await startHostile(t);
  gateway.accepts = [drawn()];
  const { client, signed } = openClient(gateway, { pay: { deposit: '1' }, ...options });
  const typed = signed as Typed[];
  return {
    gateway,
    client,
    signed: typed,
    vouchers: () =>
      typed.filter(({ primaryType }) => primaryType === 'Voucher').map(({ message }) => message.maxClaimableAmount),
    deposits: () =>
      typed.filter(({ primaryType }) => primaryType === 'ReceiveWithAuthorization').map(({ message }) => message.value),
    sent: () => gateway.payments.map((payment): Sent => JSON.parse(Buffer.from(payment, 'base64').toString())),
  };
}

export const last = ({ payments }: Hostile): Sent =>
  JSON.parse(Buffer.from(payments.at(-1) ?? '', 'base64').toString());

export const response = (extra: object, others: object = {}) => ({
  'payment-response': encoded({ success: true, transaction: '', amount: '', ...others, extra }),
});

/** Answers a payment with a result, and this of its channel. */
export const answering =
  (gateway: Hostile, state: (sent: Sent) => object, chargedAmount?: string): Hostile['onPayment'] =>
  (answer) => {
    const channelState = { channelId: last(gateway).payload.voucher.channelId, ...state(last(gateway)) };
    answer.writeHead(200, response({ channelState, ...(chargedAmount !== undefined && { chargedAmount }) }));
    answer.end('{"here":true}');
  };

/** As a gateway does that charges what was signed. */
export const charging = (gateway: Hostile, balance = '500000') =>
  answering(gateway, ({ payload }) => ({ balance, chargedCumulativeAmount: payload.voucher.maxClaimableAmount }));

/** Refuses it as one whose channel stands otherwise. */
export const correcting =
  (gateway: Hostile, state: (sent: Sent) => object, voucherState?: object): Hostile['onPayment'] =>
  (answer) => {
    const channelState = { channelId: last(gateway).payload.voucher.channelId, ...state(last(gateway)) };
    const accepts = [drawn({ channelState, voucherState })];
    const required = { x402Version: 2, error: MISMATCH, resource: { url: 'x' }, accepts };
    answer.writeHead(402, { 'payment-required': encoded(required) }).end('{"detail":"not so"}');
  };
