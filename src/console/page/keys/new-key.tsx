import { useState } from 'preact/hooks';
import type { KeyRow, NewKeyForm } from '../../figures.ts';
import { write } from '../api.ts';
import { useAction } from '../parts/action.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';

interface Props {
  onMade(): void;
  onClose(): void;
}

/** Makes a key. Its secret is held by this dialog alone, and gone with it. */
export function NewKey({ onMade, onClose }: Props) {
  const [label, setLabel] = useState('');
  const [credits, setCredits] = useState('');
  const [dailyLimit, setDailyLimit] = useState('');
  const [secret, setSecret] = useState<string>();
  const { run, isUnderWay, fault } = useAction();
  const problemOf = (field: string): string | undefined => (fault?.field === field ? fault.message : undefined);

  if (secret !== undefined) {
    return (
      <Dialog key="secret" title="The new key" onClose={onClose} isKept>
        <p>This is the only time that it is shown: only its hash is kept. Hand it over now.</p>
        <p class="secret">
          <Copyable text={secret} what="the new key" isWhole />
        </p>
        <div class="actions">
          <button type="button" class="primary" onClick={onClose}>
            I have it
          </button>
        </div>
      </Dialog>
    );
  }

  const make = () =>
    run(async () => {
      const form: NewKeyForm = { label: label.trim(), credits, ...(dailyLimit !== '' && { dailyLimit }) };
      const made = await write<{ key: KeyRow; secret: string }>('keys', form);
      setSecret(made.secret);
      onMade();
    });
  const amount = { inputMode: 'decimal', pattern: '\\d+(\\.\\d{1,6})?' } as const;
  return (
    <Dialog title="New key" onClose={onClose} isKept={isUnderWay}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        {fault && fault.field === undefined && (
          <Notice tone="bad">
            <p>{fault.message}</p>
          </Notice>
        )}
        <Field
          label="Label"
          required
          maxLength={100}
          value={label}
          onText={setLabel}
          hint="Whose key it is."
          problem={problemOf('label')}
        />
        <Field
          {...amount}
          label="Credits to start with (dollars)"
          required
          value={credits}
          onText={(text) => setCredits(text.trim())}
          hint="0 where they come later."
          problem={problemOf('credits')}
        />
        <Field
          {...amount}
          label="Most that it may spend in a day of UTC (dollars)"
          value={dailyLimit}
          onText={(text) => setDailyLimit(text.trim())}
          hint="Empty: no limit."
          problem={problemOf('dailyLimit')}
        />
        <div class="actions">
          <button type="button" disabled={isUnderWay} onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isUnderWay}>
            {isUnderWay ? 'Making…' : 'Make the key'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
