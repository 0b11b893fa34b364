import { useState } from 'preact/hooks';
import { abridged } from './format.ts';

/** An address or a transaction, with a button that copies all of it. */
export function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
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
      <code title={text}>{state === 'Select it by hand' ? text : abridged(text)}</code>{' '}
      <button type="button" class="small" onClick={copy} aria-label={`${state}: ${what}`}>
        {state}
      </button>
    </span>
  );
}
