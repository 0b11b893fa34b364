import { useEffect, useRef, useState } from 'preact/hooks';
import { Fault, onSignedOut, write } from './api.ts';
import { Catalogue } from './catalogue.tsx';
import { Keys } from './keys/keys.tsx';
import { Networks } from './networks.tsx';
import { OverviewPage } from './overview/overview.tsx';
import { Notice } from './parts/notice.tsx';
import { PaymentPage } from './payments/payment.tsx';
import { Payments } from './payments/payments.tsx';
import { decoded, linkTo, type Route, useRoute } from './route.ts';
import { readShop, type Shop } from './shop.ts';
import { SignIn } from './sign-in.tsx';
import { Upstreams } from './upstreams.tsx';

const PAGES = {
  overview: 'Overview',
  payments: 'Payments',
  upstreams: 'Upstreams',
  networks: 'Networks',
  keys: 'Keys',
  catalogue: 'Catalogue',
};

const AGAIN_MS = 5_000;

const isPassing = ({ status }: Fault): boolean => status === 0 || status >= 500;

/** The token in an address, which is taken out of it at once: an address is kept and shared. */
function takeToken(): string | undefined {
  const [, token] = /^#token=(.+)$/.exec(location.hash) ?? [];
  if (token === undefined) return undefined;
  history.replaceState(null, '', location.pathname);
  dispatchEvent(new HashChangeEvent('hashchange'));
  return decoded(token);
}

export function Console() {
  const [shop, setShop] = useState<Shop>();
  const [isAsking, setAsking] = useState(true);
  const [fault, setFault] = useState<Fault>();

  const enter = async (token?: string): Promise<void> => {
    setAsking(true);
    let untaken = token;
    try {
      if (token !== undefined) await write('session', { token });
      untaken = undefined;
      setShop(await readShop());
      setFault(undefined);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // A gateway that restarts is back soon, and so is its database: the session may still be good.
      if (untaken === undefined && isPassing(error)) setTimeout(enter, AGAIN_MS);
      // Nobody has tried yet.
      setFault(token === undefined && error.status === 401 ? undefined : error);
    }
    setAsking(false);
  };

  const leave = (): void => {
    setFault(undefined);
    setShop(undefined);
  };

  useEffect(() => {
    const follow = (): void => {
      const token = takeToken();
      if (token !== undefined) void enter(token);
    };
    const unfollow = onSignedOut(leave);
    addEventListener('hashchange', follow);
    void enter(takeToken());
    return () => {
      unfollow();
      removeEventListener('hashchange', follow);
    };
  }, []);

  if (shop) {
    const signOut = async (): Promise<void> => {
      try {
        await write('session', {}, 'DELETE');
        leave();
      } catch {
        // The gateway alone can take the session from the browser.
        setFault(new Fault(0, 'You are still signed in: no answer came. Sign out again in a moment.'));
      }
    };
    return <Shell shop={shop} fault={fault} onSignOut={signOut} />;
  }
  return <SignIn isAsking={isAsking} fault={fault} onToken={enter} />;
}

interface ShellProps {
  readonly shop: Shop;
  readonly fault: Fault | undefined;
  onSignOut(): void;
}

function Shell({ shop, fault, onSignOut }: ShellProps) {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const place = `${route.page}/${route.id ?? ''}`;
  const title = Object.hasOwn(PAGES, route.page) ? PAGES[route.page as keyof typeof PAGES] : 'Not found';

  // Who came by keyboard goes on from the top of the new page.
  useEffect(() => {
    document.title = `${title} · ${shop.service}`;
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    if (!isFirst.current) scrollTo(0, 0);
    isFirst.current = false;
  }, [place]);

  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <p class="brand">
          {shop.service} <span class={`mode ${shop.mode}`}>{shop.mode}</span>
        </p>
        <nav aria-label="Pages">
          {Object.entries(PAGES).map(([page, words]) => (
            <a key={page} href={linkTo(page)} aria-current={page === route.page ? 'page' : undefined}>
              {words}
            </a>
          ))}
        </nav>
        <button type="button" class="small" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <main id="content" ref={main} tabIndex={-1}>
        {fault && (
          <Notice tone="bad">
            <p>{fault.message}</p>
          </Notice>
        )}
        <Page key={place} route={route} shop={shop} />
      </main>
    </>
  );
}

function Page({ route: { page, id, query }, shop }: { route: Route; shop: Shop }) {
  switch (page) {
    case 'overview':
      return <OverviewPage query={query} />;
    case 'payments':
      return id === undefined ? <Payments query={query} shop={shop} /> : <PaymentPage id={id} />;
    case 'upstreams':
      return <Upstreams query={query} />;
    case 'networks':
      return <Networks />;
    case 'keys':
      return <Keys />;
    case 'catalogue':
      return <Catalogue />;
    default:
      return (
        <>
          <h1>Not found</h1>
          <p>
            There is no such page. <a href={linkTo('overview')}>Go to the overview</a>
          </p>
        </>
      );
  }
}
