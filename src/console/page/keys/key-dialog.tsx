import { useState } from 'preact/hooks';
import type { KeyForm, KeyRow } from '../../figures.ts';
import { write } from '../api.ts';
import { useAction } from '../parts/action.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { dollars } from '../parts/format.ts';
import { Notice } from '../parts/notice.tsx';
import { newReference } from '../parts/reference.ts';

export type KeyChange = 'Top up' | 'Limit' | 'Disable';

interface Props {
  readonly apiKey: KeyRow;
  readonly what: KeyChange;
  /** It is changed, or nobody knows: what is known has to be read again. */
  onChanged(): void;
  onClose(): void;
}

const WORDS = {
  'Top up': { act: 'Add credits', field: 'topUp' },
  Limit: { act: 'Set the limit', field: 'dailyLimit' },
  Disable: { act: 'Disable for good', field: 'disabled' },
} as const;

/** One change to a key. */
export function KeyDialog({ apiKey, what, onChanged, onClose }: Props) {
  const { id, label, balance, dailyLimit } = apiKey;
  const { act, field } = WORDS[what];
  const [amount, setAmount] = useState(what === 'Limit' ? (dailyLimit ?? '') : '');
  const [note, setNote] = useState('');
  const [reference] = useState(newReference);
  const { run, isUnderWay, fault } = useAction();
  const problem = fault?.field === field ? fault.message : undefined;

  const formOf = (): KeyForm => {
    if (what === 'Disable') return { disabled: true };
    if (what === 'Limit') return { dailyLimit: amount === '' ? null : amount };
    return { topUp: amount, reference, ...(note.trim() !== '' && { note: note.trim() }) };
  };
  const send = () =>
    run(async () => {
      await write<KeyRow>(`keys/${encodeURIComponent(id)}`, formOf());
      onClose();
    }).then(onChanged);

  return (
    <Dialog title={`${what}: ${label}`} onClose={onClose} isKept={isUnderWay}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {fault && problem === undefined && (
          <Notice tone="bad">
            <p>{fault.message}</p>
          </Notice>
        )}
        {what === 'Top up' && (
          <>
            <Field
              label="Credits (dollars)"
              inputMode="decimal"
              required
              pattern="\d+(\.\d{1,6})?"
              value={amount}
              onText={(text) => setAmount(text.trim())}
              hint={`It has ${dollars(balance)} now`}
              problem={problem}
            />
            <Field
              label="Note"
              maxLength={200}
              value={note}
              onText={setNote}
              hint="For your books, and for the key's owner: what was paid, and how."
            />
          </>
        )}
        {what === 'Limit' && (
          <Field
            label="Most that it may spend in a day of UTC (dollars)"
            inputMode="decimal"
            pattern="\d+(\.\d{1,6})?"
            value={amount}
            onText={(text) => setAmount(text.trim())}
            hint="Empty: no limit."
            problem={problem}
          />
        )}
        {what === 'Disable' && (
          <p>
            Nobody can use this key any more, and it cannot be enabled again. {dollars(balance)} of credits stay on it:
            give them back by hand. Calls under way are still charged.
          </p>
        )}
        <div class="actions">
          <button type="button" disabled={isUnderWay} onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isUnderWay}>
            {isUnderWay ? 'One moment…' : act}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
