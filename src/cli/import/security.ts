/** Who calls: security schemes of a document as what the adapter `http` can send. */
import { asJsonObject, asJsonObjects, type JsonObject } from '../../json.ts';
import { type ApiDocument, resolved } from './document.ts';
import type { Operation } from './operations.ts';

export interface Scheme {
  readonly name: string;
  /** `settings.authorize` of the upstream. */
  readonly authorize: JsonObject;
  /** Secret -> the end of its environment variable. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The parameter that carries it, lest callers be asked for it. */
  readonly parameter?: { readonly in: string; readonly name: string };
  readonly remark?: string;
}

const KEY = { key: 'API_KEY' } as const;

/** A scheme of the document by its name, or undefined where the adapter cannot send it. */
function schemeOf(root: JsonObject, name: string): Scheme | undefined {
  const source = resolved(root, asJsonObject(asJsonObject(root.components).securitySchemes)[name]);
  const [type, place, sentAs] = [source.type, source.in, String(source.name)];
  const http = String(source.scheme).toLowerCase();
  if (type === 'http' && http === 'bearer') return { name, authorize: { bearer: 'key' }, secrets: KEY };
  if (type === 'http' && http === 'basic') {
    return { name, authorize: { basic: '{user}:{password}' }, secrets: { user: 'USER', password: 'PASSWORD' } };
  }
  if (type === 'apiKey' && (place === 'header' || place === 'query')) {
    const authorize = { [place]: sentAs, value: '{key}' };
    return { name, authorize, secrets: KEY, parameter: { in: place, name: sentAs } };
  }
  if (type !== 'oauth2' && type !== 'openIdConnect') return undefined;
  const remark = `${name} is ${type}: its access token is sent as a bearer token, and nothing here renews it`;
  return { name, authorize: { bearer: 'key' }, secrets: KEY, remark };
}

/** The alternatives that an operation names: each a list of schemes that are all needed. Empty: it needs none. */
function alternativesOf({ root }: ApiDocument, { source }: Operation): string[][] {
  return asJsonObjects(source.security ?? root.security).map((needed) => Object.keys(needed));
}

/** The scheme of the upstream: the one that opens most operations, and of equals the first. Undefined: none is needed. */
export function chooseScheme(document: ApiDocument, operations: readonly Operation[]): Scheme | undefined {
  const counts = new Map<string, number>();
  for (const operation of operations) {
    for (const [name, ...others] of alternativesOf(document, operation)) {
      if (name === undefined || others.length > 0 || !schemeOf(document.root, name)) continue;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  const [first] = [...counts].sort(([, left], [, right]) => right - left);
  return first && schemeOf(document.root, first[0]);
}

/** Why calls of an operation are not let in with the upstream's scheme; undefined where they are. */
export function refusedWith(
  document: ApiDocument,
  operation: Operation,
  scheme: Scheme | undefined,
): string | undefined {
  const alternatives = alternativesOf(document, operation);
  const isOpen = alternatives.length === 0 || alternatives.some((needed) => needed.length === 0);
  if (isOpen || alternatives.some((needed) => needed.every((name) => sendsTheSame(document, name, scheme))))
    return undefined;
  const wanted = alternatives.map((needed) => needed.join(' and ')).join(' or ');
  return scheme
    ? `needs ${wanted}, and the upstream authorizes with ${scheme.name}`
    : `needs ${wanted}, which cannot be sent`;
}

const sendsTheSame = ({ root }: ApiDocument, name: string, scheme: Scheme | undefined): boolean =>
  scheme !== undefined && JSON.stringify(schemeOf(root, name)?.authorize) === JSON.stringify(scheme.authorize);
