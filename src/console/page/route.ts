/** `#/payments/<id>?state=owed`: what is looked at, in the address, so that it can be kept, shared and gone back to. */
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  readonly page: string;
  /** What follows the page's name: a payment's id. */
  readonly id: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

/** What an address has escaped; as it is where it was not escaped well. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

function readRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [page = '', ...rest] = path.split('/').map(decoded);
  return {
    page: page || 'overview',
    id: rest.length > 0 ? rest.join('/') : undefined,
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

type Query = Readonly<Record<string, string | undefined>>;

/** The address of a page; what is empty is left out. */
export function linkTo(page: string, { id, ...query }: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${page}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}

export const goTo = (page: string, query: Query = {}): void => {
  location.hash = linkTo(page, query);
};

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return readRoute(hash);
}
