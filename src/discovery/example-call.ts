/** The endpoint's example as a request. */
import type { Input, Route } from '../catalogue/types.ts';

export interface ExampleCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** JSON; undefined where the query says it all. */
  readonly body: string | undefined;
}

/** A request as a query: lists as a repeated field. */
export function queryOf(input: Input): string {
  const fields = Object.entries(input).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)] as [string, string]),
  );
  return new URLSearchParams(fields).toString();
}

/** `publicUrl` without a trailing slash. */
export function exampleCall({ methods, path, example }: Route, publicUrl: string): ExampleCall {
  const [method = 'POST'] = methods;
  if (method === 'POST') return { method, url: publicUrl + path, body: JSON.stringify(example) };
  const query = queryOf(example);
  return { method, url: `${publicUrl}${path}${query === '' ? '' : `?${query}`}`, body: undefined };
}
