import { useEffect, useState } from 'preact/hooks';
import type { Fault } from './api.ts';
import { Field } from './parts/field.tsx';
import { wordsOf } from './parts/loaded.tsx';
import { Notice } from './parts/notice.tsx';

interface Props {
  readonly isAsking: boolean;
  readonly fault: Fault | undefined;
  onToken(token: string): void;
}

const told = (fault: Fault): string =>
  fault.status === 401
    ? 'That is not the token of this gateway. Take the one that it printed when it last started.'
    : wordsOf(fault);

export function SignIn({ isAsking, fault, onToken }: Props) {
  const [token, setToken] = useState('');
  useEffect(() => {
    document.title = 'Sign in · Console';
  }, []);
  return (
    <main class="sign-in">
      <h1>Console</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isAsking) onToken(token.trim());
        }}
      >
        {fault && (
          <Notice tone="bad">
            <p>{told(fault)}</p>
          </Notice>
        )}
        <Field
          label="Token"
          type="password"
          required
          autocomplete="current-password"
          spellcheck={false}
          value={token}
          onText={setToken}
          hint="TURNPIKE_ADMIN_TOKEN, or the one that the gateway printed when it started."
        />
        <button type="submit" class="primary" disabled={isAsking}>
          {isAsking ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
