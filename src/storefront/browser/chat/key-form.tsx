import { useState } from 'preact/hooks';
import { readSandboxKey } from './api.ts';

interface Props {
  readonly isSandbox: boolean;
  readonly problem: string | undefined;
  onKey(key: string, isKept: boolean): void;
  onProblem(error: unknown): void;
}

/** Asks for the key with whose credits answers are paid. */
export function KeyForm({ isSandbox, problem, onKey, onProblem }: Props) {
  const [key, setKey] = useState('');
  const [isKept, setKept] = useState(false);
  return (
    <form
      class="key-form panel"
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim() !== '') onKey(key.trim(), isKept);
      }}
    >
      <label class="field">
        <span>API key</span>
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          value={key}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
        />
      </label>
      <label class="tick">
        <input type="checkbox" checked={isKept} onChange={({ currentTarget }) => setKept(currentTarget.checked)} />
        Keep it in this tab until it is closed
      </label>
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary">
          Use this key
        </button>
        {isSandbox && (
          <button type="button" onClick={() => readSandboxKey().then((found) => onKey(found, false), onProblem)}>
            Use the sandbox's key (play money)
          </button>
        )}
      </div>
    </form>
  );
}
