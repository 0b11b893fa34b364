import { useState } from 'preact/hooks';
import { Conversation } from './conversation.tsx';
import { keepKey, keptKey } from './kept-key.ts';
import { KeyForm } from './key-form.tsx';

/** A chat that is paid for with the credits of a key, which this page holds and the gateway alone is told. */
export function Chat({ isSandbox }: { readonly isSandbox: boolean }) {
  const [key, setKey] = useState(keptKey);
  const [problem, setProblem] = useState<string>();
  const leave = (words?: string): void => {
    keepKey(undefined);
    setKey(undefined);
    setProblem(words);
  };
  if (key !== undefined) return <Conversation apiKey={key} onRefused={leave} onLeave={() => leave()} />;
  return (
    <KeyForm
      isSandbox={isSandbox}
      problem={problem}
      onProblem={(error) => setProblem(error instanceof Error ? error.message : String(error))}
      onKey={(given, isKept) => {
        keepKey(isKept ? given : undefined);
        setProblem(undefined);
        setKey(given);
      }}
    />
  );
}
