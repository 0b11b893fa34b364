import type { Deposit } from '../../../client/deposits.ts';
import { dollarsOf } from '../../shown.ts';
import { amountOf } from '../purchase/format.ts';
import { JsonShown } from '../purchase/json.tsx';
import type { Offer } from '../purchase/offers.ts';
import type { Standing } from './draw.ts';

/** `86400` -> `24 hours`. */
function delayOf({ accepted }: Offer): string {
  const minutes = Math.ceil(Number(accepted.extra?.withdrawDelay) / 60);
  return minutes % 60 === 0 ? `${minutes / 60} ${minutes === 60 ? 'hour' : 'hours'}` : `${minutes} minutes`;
}

/** What the button says. */
export function drawInWords({ network, price }: Offer, { deposit }: Standing): string {
  const { symbol, decimals } = network.asset;
  const ofIt = price.replace(` ${symbol} on ${network.name}`, '');
  if (deposit === 0n) return `Pay ${ofIt} ${symbol} from your deposit on ${network.name}`;
  return `Deposit ${amountOf(deposit.toString(), decimals)} ${symbol} on ${network.name} and pay ${ofIt} of it`;
}

interface Props {
  readonly offer: Offer;
  readonly standing: Standing;
  /** Where deposits lie. */
  readonly contract: string;
  readonly isDisabled: boolean;
  onTakeBack(deposit: Deposit): void;
}

/** What paying from a deposit means, what is left of it, and how to have it back. */
export function DepositShown({ offer, standing, contract, isDisabled, onTakeBack }: Props) {
  const { symbol, decimals } = offer.network.asset;
  const { deposit, left } = standing;
  const delay = delayOf(offer);
  return (
    <section class="deposit" aria-label="Your deposit">
      {left.map((each) => (
        <p key={each.channel}>
          <b>
            {dollarsOf(each.left)} {symbol}
          </b>{' '}
          left of your deposit
          {each.unanswered !== '0' &&
            `, and what was not charged of ${dollarsOf(each.unanswered)} ${symbol} for calls without an answer`}{' '}
          <button type="button" class="small" disabled={isDisabled} onClick={() => onTakeBack(each)}>
            Take it back
          </button>
        </p>
      ))}
      {deposit > 0n ? (
        <p>
          {amountOf(deposit.toString(), decimals)} {symbol} go into a contract on {offer.network.name}, and this call
          and later ones are paid from it. Your wallet asks twice: for the deposit, and for this call. Later calls need
          no transaction: it asks once for each.
        </p>
      ) : (
        <p>This call is paid from your deposit: your wallet asks once.</p>
      )}
      <p class="quiet">
        What is not used comes back when you ask for it here. Without this gateway, your account has it back from the
        contract {delay} after asking there.
      </p>
      {left.map((each) => (
        <details key={each.channel}>
          <summary>Without this gateway</summary>
          <p>
            From your account, call <code>initiateWithdraw</code> of <code>{contract}</code>, and {delay} later{' '}
            <code>finalizeWithdraw</code>: both with this, and the first with how much you want back, in the token's
            smallest unit.
          </p>
          <JsonShown value={each.config} />
        </details>
      ))}
    </section>
  );
}
