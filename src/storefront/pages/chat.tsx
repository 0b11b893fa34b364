/** Chat with a model, paid for with the credits of an API key. */
import { sellsCredits } from '../../catalogue/sells-credits.ts';
import { pageOf } from '../offers.ts';
import { Layout } from './layout.tsx';
import type { PageParts } from './parts.ts';

export function ChatPage({ parts }: { parts: PageParts }) {
  const credits = parts.routes.find(sellsCredits);
  return (
    <Layout
      parts={parts}
      title="Chat"
      description="Talk with a model, paid for with the credits of an API key."
      path="/chat"
    >
      <h1>Chat</h1>
      <p class="lead">Talk with a model, paid for with the credits of an API key.</p>
      {credits && (
        <p>
          No key yet? <a href={pageOf(credits.path)}>Buy credits</a>: the first purchase makes one.
        </p>
      )}
      <div id="chat" />
      <noscript>
        <p>
          This page needs JavaScript. Programs send the same to <code>{`${parts.publicUrl}/v1/chat/completions`}</code>.
        </p>
      </noscript>
    </Layout>
  );
}
