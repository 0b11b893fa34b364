import type { InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface Props extends Omit<InputHTMLAttributes, 'onInput' | 'id' | 'label'> {
  readonly label: string;
  /** What it takes. */
  readonly hint?: string;
  /** Why what was given is not taken. */
  readonly problem?: string | undefined;
  onText(text: string): void;
}

export function Field({ label, hint, problem, onText, ...input }: Props) {
  const id = useId();
  const told = problem ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...input}
        id={id}
        onInput={(event) => onText(event.currentTarget.value)}
        aria-invalid={problem !== undefined}
        {...(told !== undefined && { 'aria-describedby': `${id}-told` })}
      />
      {told !== undefined && (
        <p id={`${id}-told`} class={problem === undefined ? 'hint' : 'hint bad'}>
          {told}
        </p>
      )}
    </div>
  );
}
