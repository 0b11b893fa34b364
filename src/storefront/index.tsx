/** The pages that a person sees who opens the gateway in a browser. All are made from what is sold, when first asked for. */
import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler, type Response, type Router } from 'express';
import type { VNode } from 'preact';
import { render } from 'preact-render-to-string';
import { type Document, makeDocument } from '../discovery/document.ts';
import { brandStyles } from './brand.ts';
import { sendCompressed } from './compressed.ts';
import { contentSecurityPolicy } from './content-security.ts';
import { builtFiles } from './files.ts';
import { prefersPage } from './negotiation.ts';
import { type Offer, offersOf, PAGES_PATH } from './offers.ts';
import { ChatPage } from './pages/chat.tsx';
import { EndpointPage } from './pages/endpoint.tsx';
import { ListPage } from './pages/list.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import type { PageParts } from './pages/parts.ts';
import { SAMPLES_PATH } from './samples.ts';
import { createWalletRouter, type WalletParts } from './wallets/router.ts';

interface StorefrontParts extends PageParts {
  /** Where files that were bought are had, without a trailing slash. */
  readonly mediaUrl: string;
  /** What programs get at `/`. */
  readonly forAgents: Document | undefined;
  readonly samplesDirectory: string;
  readonly rpcUrl: WalletParts['rpcUrl'];
}

export interface Storefront {
  /** `/endpoints/…`, `/chat` and what they load. */
  readonly router: Router;
  /** `/`: the list, or for programs what is written for them. */
  readonly front: RequestHandler;
  answersFor(path: string): boolean;
  /**
   * The page of what is sold at a path, or that nothing is, for a browser that would be shown an answer of this status;
   * else undefined.
   */
  pageInPlaceOf(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, status: number): PageAnswer | undefined;
}

export interface PageAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const OWN_PATHS = ['/chat', PAGES_PATH];
const OWN_PREFIXES = [`${PAGES_PATH}/`, '/storefront/'];

/** More are made again when they are asked for. */
const MOST_KEPT = 200;

/** What a browser is told that came to an address that is paid for. */
const BECAUSE: Readonly<Record<number, string>> = {
  402: 'This address is sold by the call, and the call was not paid for. Here is what it costs and how to pay for it.',
  405: 'This address takes POST: fill in the request below.',
};

const toDocument = (page: VNode): Document =>
  makeDocument(`<!doctype html>\n${render(page)}`, 'text/html; charset=utf-8');

export function openStorefront(parts: StorefrontParts): Storefront {
  const policy = contentSecurityPolicy(parts.mediaUrl);
  const byPath = new Map<string, { readonly offer: Offer; readonly route: Offer['base'] }>();
  for (const offer of offersOf(parts.routes)) {
    for (const route of [offer.base, ...offer.mirrors]) byPath.set(route.path, { offer, route });
    for (const { path } of offer.operations) byPath.set(path, { offer, route: offer.base });
  }
  const built = builtFiles();
  const styles = makeDocument(brandStyles(parts.service), 'text/css; charset=utf-8');
  const kept = new Map<string, Document>();

  function keptPage(key: string, make: () => VNode): Document {
    const page = kept.get(key) ?? toDocument(make());
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, page);
    return page;
  }

  function endpointPage(path: string, status: number): Document | undefined {
    const found = byPath.get(path);
    return (
      found && keptPage(`${status} ${path}`, () => <EndpointPage parts={parts} {...found} because={BECAUSE[status]} />)
    );
  }

  /** What is sold may say 404 itself. */
  const missingPage = (path: string): Document | undefined =>
    byPath.has(path) ? undefined : keptPage('404', () => <NotFoundPage parts={parts} />);

  const headers = {
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
  };

  function secured(response: Response): Response {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return response;
  }

  const router = express.Router();
  router.get('/storefront/brand.css', (request, response) => sendCompressed(styles, request, response));
  router.use(SAMPLES_PATH, express.static(parts.samplesDirectory, { index: false, dotfiles: 'ignore', maxAge: '1h' }));
  router.use(createWalletRouter({ ...parts, networks: [...parts.networks.values()] }));
  router.get('/storefront/:name', (request, response, next) => {
    const file = built.get(request.params.name);
    if (!file) return next();
    response.setHeader('cache-control', 'public, max-age=60');
    return sendCompressed(file, request, response);
  });
  router.get('/chat', (request, response, next) => {
    if (!parts.hasChat) return next();
    const page = keptPage('chat', () => <ChatPage parts={parts} />);
    return sendCompressed(page, request, secured(response));
  });
  router.get(PAGES_PATH, (_request, response) => response.redirect(308, '/'));
  router.get(`${PAGES_PATH}/*path`, (request, response, next) => {
    const page = endpointPage(request.path.slice(PAGES_PATH.length), 200);
    return page ? sendCompressed(page, request, secured(response)) : next();
  });

  return {
    router,
    front(request, response) {
      response.vary('accept');
      const list = () => keptPage('list', () => <ListPage parts={parts} />);
      const asPage = prefersPage(request.headers.accept) || !parts.forAgents;
      return sendCompressed(
        asPage || !parts.forAgents ? list() : parts.forAgents,
        request,
        asPage ? secured(response) : response,
      );
    },
    answersFor: (path) => OWN_PATHS.includes(path) || OWN_PREFIXES.some((prefix) => path.startsWith(prefix)),
    pageInPlaceOf({ method, url = '/', headers: { accept } }, status) {
      if (method !== 'GET' || !prefersPage(accept)) return undefined;
      const [path = '/'] = url.split('?');
      const endpoint = () => (BECAUSE[status] === undefined ? undefined : endpointPage(path, status));
      const page = status === 404 ? missingPage(path) : endpoint();
      return page && { headers: { ...headers, 'content-type': page.type, vary: 'accept' }, body: page.body };
    },
  };
}
