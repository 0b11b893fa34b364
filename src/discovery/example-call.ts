/** The endpoint's example as a request. */
import type { Route } from '../catalogue/types.ts';
import { queryOf } from '../query-of.ts';

export interface ExampleCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** JSON; undefined where the query says it all. */
  readonly body: string | undefined;
}

/** `publicUrl` without a trailing slash. */
export function exampleCall({ methods, path, example }: Route, publicUrl: string): ExampleCall {
  const [method = 'POST'] = methods;
  if (method === 'POST') return { method, url: publicUrl + path, body: JSON.stringify(example) };
  const query = queryOf(example);
  return { method, url: `${publicUrl}${path}${query === '' ? '' : `?${query}`}`, body: undefined };
}
