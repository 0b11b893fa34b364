import { useState } from 'preact/hooks';
import { abridged } from './format.ts';

interface Props {
  readonly text: string;
  /** What it is, for who cannot see where it stands. */
  readonly what: string;
  readonly isWhole?: boolean;
}

/** An address, a transaction, a secret: with a button that copies all of it. */
export function Copyable({ text, what, isWhole = false }: Props) {
  const [state, setState] = useState<'Copy' | 'Copied' | 'Select it by hand'>('Copy');
  const copy = async (): Promise<void> => {
    // Browsers give no clipboard to pages without TLS that are not on this machine.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setState(copied ? 'Copied' : 'Select it by hand');
    setTimeout(() => setState('Copy'), 2_000);
  };
  return (
    <span class="copyable">
      <code title={text}>{isWhole ? text : abridged(text)}</code>
      <button type="button" class="small" onClick={copy} aria-label={`${state}: ${what}`}>
        {state}
      </button>
    </span>
  );
}
