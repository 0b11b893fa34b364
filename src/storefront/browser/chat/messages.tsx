import type { Message } from './api.ts';

interface Props {
  readonly messages: readonly Message[];
  /** The answer that is being written; undefined: none. */
  readonly writing: string | undefined;
}

const NAMES = { user: 'You', assistant: 'Model' } as const;

function Line({ message: { role, content } }: { readonly message: Message }) {
  return (
    <li class={role}>
      <b>{NAMES[role]}</b>
      <p class="said">{content}</p>
    </li>
  );
}

/** Whole answers are read out; what is still being written would be told piece by piece. */
export function Messages({ messages, writing }: Props) {
  return (
    <ol class="messages" aria-live="polite" aria-label="Conversation" aria-busy={writing !== undefined}>
      {messages.map((message, at) => (
        // Messages are only ever added at the end.
        <Line key={at} message={message} />
      ))}
      {writing !== undefined && <Line message={{ role: 'assistant', content: writing }} />}
    </ol>
  );
}
