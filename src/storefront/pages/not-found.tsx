/** For a browser at an address that leads to nothing. */
import { Layout } from './layout.tsx';
import type { PageParts } from './parts.ts';

export function NotFoundPage({ parts }: { readonly parts: PageParts }) {
  const text = 'Nothing is sold at this address, and no page is here.';
  return (
    <Layout parts={parts} title="No such page" description={text} path={undefined}>
      <h1>No such page</h1>
      <p class="lead">{text}</p>
      <p>
        <a href="/">Everything that is sold</a>
      </p>
    </Layout>
  );
}
