/** What every page has around its contents. */
import type { ComponentChildren } from 'preact';
import type { PageParts } from './parts.ts';

interface Props {
  readonly parts: PageParts;
  readonly title: string;
  readonly description: string;
  /** Its own address, for who came by another; undefined where it has none. */
  readonly path: string | undefined;
  readonly children: ComponentChildren;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

export function Layout({ parts, title, description, path, children }: Props) {
  const { service, mode, publicUrl, hasChat } = parts;
  const name = path === '/' ? service.name : `${title} · ${service.name}`;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{name}</title>
        <meta name="description" content={oneLine(description)} />
        <meta property="og:title" content={name} />
        <meta property="og:description" content={oneLine(description)} />
        {path !== undefined && <meta property="og:url" content={publicUrl + path} />}
        {path !== undefined && <link rel="canonical" href={publicUrl + path} />}
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        <link rel="alternate" type="text/plain" href="/llms.txt" title="For agents" />
        <link rel="service-desc" type="application/json" href="/openapi.json" />
        <link rel="stylesheet" href="/storefront/main.css" />
        <link rel="stylesheet" href="/storefront/brand.css" />
        <script type="module" src="/storefront/main.js" />
      </head>
      <body data-mode={mode}>
        <a class="skip" href="#main">
          Skip to the contents
        </a>
        <header class="top">
          <a class="brand" href="/">
            <img src="/icon.svg" alt="" width="28" height="28" />
            <span>{service.name}</span>
          </a>
          <nav aria-label="Main">
            <a href="/">Endpoints</a>
            {hasChat && <a href="/chat">Chat</a>}
            <a href="/llms.txt">For agents</a>
            <a href="/openapi.json">OpenAPI</a>
          </nav>
        </header>
        {mode === 'sandbox' && (
          <aside class="notice" aria-label="Sandbox">
            This is a sandbox: local chains, play money, stand-ins for the providers. Nothing here costs anything.
          </aside>
        )}
        <main id="main" tabIndex={-1}>
          {children}
        </main>
        <footer>
          <p>
            Every call is paid for by itself, in stablecoins. There are no accounts; a call that fails is not charged.
          </p>
          {service.contact?.url && (
            <p>
              <a href={service.contact.url}>{service.contact.name ?? service.contact.url}</a>
            </p>
          )}
        </footer>
      </body>
    </html>
  );
}
