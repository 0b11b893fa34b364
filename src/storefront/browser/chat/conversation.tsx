import { useState } from 'preact/hooks';
import type { Model } from './api.ts';
import { Messages } from './messages.tsx';
import { useChat } from './use-chat.ts';

const modelInWords = ({ id, pricing }: Model): string =>
  `${id} (${pricing.input} in, ${pricing.output} out, USD for a million tokens)`;

interface Props {
  readonly apiKey: string;
  onRefused(words: string): void;
  onLeave(): void;
}

export function Conversation({ apiKey, onRefused, onLeave }: Props) {
  const { models, balance, messages, writing, problem, askAgain, send, stop, clear } = useChat(apiKey, onRefused);
  const [chosen, setChosen] = useState<string>();
  const [text, setText] = useState('');
  const model = chosen ?? models[0]?.id;
  const isWriting = writing !== undefined;
  const submit = async (): Promise<void> => {
    const content = text.trim();
    if (content === '' || model === undefined || isWriting) return;
    setText('');
    // What was not answered can be sent again, unless something else was written meanwhile.
    if (!(await send(model, content))) setText((written) => written || content);
  };
  return (
    <div class="conversation">
      <div class="chat-head">
        <label class="field">
          <span>Model</span>
          <select value={model} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
            {models.map((each) => (
              <option key={each.id} value={each.id}>
                {modelInWords(each)}
              </option>
            ))}
          </select>
        </label>
        <p class="balance">
          Balance: <output>{balance ? `${balance.now} USD` : '…'}</output>
          {balance?.before !== undefined && <span class="quiet"> (before: {balance.before} USD)</span>}
        </p>
        <div class="actions">
          <button type="button" onClick={clear} disabled={isWriting || messages.length === 0}>
            New conversation
          </button>
          <button type="button" onClick={onLeave}>
            Another key
          </button>
        </div>
      </div>
      <Messages messages={messages} writing={writing} />
      {problem !== undefined && (
        <p class="notice" role="alert">
          {problem}
          {askAgain && (
            <>
              {' '}
              <button type="button" onClick={askAgain}>
                Ask again
              </button>
            </>
          )}
        </p>
      )}
      <form
        class="say"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label class="field">
          <span>Message</span>
          <textarea
            rows={3}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              void submit();
            }}
          />
        </label>
        <div class="actions">
          <button type="submit" class="primary" disabled={isWriting || model === undefined}>
            Send
          </button>
          <button type="button" onClick={stop} disabled={!isWriting}>
            Stop
          </button>
        </div>
      </form>
    </div>
  );
}
