/** Reads an OpenAPI document. */
import { existsSync, realpathSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, type ParserOptions, parse, ResolverError } from '@readme/openapi-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { convertObj } from 'swagger2openapi';
import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import { UsageProblem } from '../command-line.ts';

/** An OpenAPI document of version 3.0 or 3.1; every `$ref` in it leads to a place of its own. */
export interface ApiDocument {
  readonly root: JsonObject;
  /** Where it came from, if that was a URL: relative server URLs start there. */
  readonly address: string | undefined;
  /** What is wrong with the document, in its own terms; it is read as far as it can be. */
  readonly faults: readonly string[];
}

/**
 * Reads a file or https URL in JSON or YAML, with the files below its directory that it refers to. Swagger 2 becomes OpenAPI
 * 3.0. Throws UsageProblem for what is not there or is no such document.
 */
export async function readDocument(source: string): Promise<ApiDocument> {
  const address = /^https?:/.test(source) ? source : undefined;
  if (address?.startsWith('http:')) throw new UsageProblem(`${source} is not fetched: give an https URL or a file`);
  if (!address && !existsSync(source))
    throw new UsageProblem(`there is no file ${source}: give a file or an https URL`);
  const written = await readWith(parse, source);
  const version = versionOf(written);
  if (version === '') throw new UsageProblem(`${source} is no OpenAPI document: it says neither openapi nor swagger`);
  if (!/^(?:2\.0|3\.[01])(?:\.|$)/.test(version)) {
    throw new UsageProblem(`${source} says OpenAPI ${version}; what can be imported is 3.0, 3.1 and Swagger 2.0`);
  }
  if (!isJsonObject(written.paths)) throw new UsageProblem(`${source} has no paths: nothing can be imported from it`);
  const faults = await faultsOf(written);
  const whole = await readWith(bundle, source);
  return { root: whole.swagger === undefined ? whole : await converted(whole, source), address, faults };
}

/** Without quotes it is a number to YAML, which says no `.0`. */
function versionOf({ openapi, swagger }: JsonObject): string {
  const version = openapi ?? swagger ?? '';
  return typeof version === 'number' ? version.toFixed(1) : String(version);
}

type Read = (source: string, options: ParserOptions) => Promise<object>;

/**
 * How the document is read, and what it refers to. Whoever wrote it says which files these are, and what is in them is
 * published: none that lies elsewhere is read.
 */
function filesBelow(directory: string): ParserOptions {
  const top = `${realpathSync(directory)}${sep}`;
  const reader = {
    canRead: true,
    async read({ url }: { readonly url: string }): Promise<Buffer> {
      const path = url.startsWith('file:') ? fileURLToPath(url) : decodeURIComponent(url);
      if ((await realpath(path)).startsWith(top)) return await readFile(path);
      const cure = 'files outside of its own directory are not read; make one document of them all first';
      throw new ResolverError(new Error(`it refers to ${path}: ${cure}`), url);
    },
  };
  // A reader of one's own is handed on, although the types know yes and no alone.
  return { resolve: { file: reader as unknown as true } };
}

async function readWith(read: Read, source: string): Promise<JsonObject> {
  try {
    const document = asJsonObject(await read(source, existsSync(source) ? filesBelow(dirname(source)) : {}));
    countValues(document, new Map());
    return document;
  } catch (error) {
    if (error instanceof UsageProblem) throw new UsageProblem(`${source}: ${error.message}`);
    if (isNoObject(error))
      throw new UsageProblem(`${source} is no OpenAPI document: it is empty, or a text such as a web page`);
    if (isUnfetched(error, source)) throw new UsageProblem(`${source} cannot be fetched: ${reasonOf(error)}`);
    throw new UsageProblem(`${source} cannot be read as an OpenAPI document: ${reasonOf(error)}`);
  }
}

/** The document of a large service has less than a tenth of these. */
const MOST_VALUES = 10_000_000;

/**
 * How many values there are in one, with each alias of YAML in full: a few lines of them can stand for more than a machine
 * holds, or for themselves. Throws UsageProblem. `counted`: undefined while one is counted.
 */
function countValues(value: unknown, counted: Map<object, number | undefined>): number {
  if (typeof value !== 'object' || value === null) return 1;
  const known = counted.get(value);
  if (known !== undefined) return known;
  if (counted.has(value)) throw new UsageProblem('a YAML alias stands within what it stands for: write it as a $ref');
  counted.set(value, undefined);
  const count = Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner, counted), 1);
  if (count > MOST_VALUES)
    throw new UsageProblem(`it has more than ${MOST_VALUES} values, its YAML aliases written out`);
  counted.set(value, count);
  return count;
}

const isNoObject = (error: unknown): boolean =>
  error instanceof Error && error.message.endsWith('is not a valid JSON Schema');

/** Of a private address it says no more than that it was not resolved. */
const isUnfetched = (error: unknown, source: string): boolean =>
  source.startsWith('https:') &&
  error instanceof Error &&
  (('code' in error && error.code === 'ERESOLVER') || error.message.endsWith(`$ref pointer "${source}"`));

/**
 * Documents of real services seldom fit the specification in every place. The validator looks at what is written alone:
 * one that follows every reference takes forever where schemas name the next one twice, forty times over.
 */
async function faultsOf(root: JsonObject): Promise<string[]> {
  const { errors = [] } = await new Validator().validate(structuredClone(root));
  // A member that is called $ref is taken for a reference.
  if (typeof errors === 'string') return errors.includes(String({})) ? [] : [errors];
  const [first] = errors;
  return first ? [`${first.instancePath} ${first.message}${errors.length > 1 ? '; there may be more' : ''}`] : [];
}

async function converted(root: JsonObject, source: string): Promise<JsonObject> {
  try {
    // It works on the object that it is given.
    const { openapi } = await convertObj(structuredClone({ ...root, swagger: versionOf(root) }), {
      patch: true,
      warnOnly: true,
    });
    return openapi as JsonObject;
  } catch (error) {
    throw new UsageProblem(`${source} cannot be converted from Swagger 2.0: ${reasonOf(error)}`);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What `#/components/schemas/Pet` names, followed to its end; an empty object where there is no such thing. */
export function resolved(root: JsonObject, value: unknown): JsonObject {
  const seen = new Set<string>();
  let found = asJsonObject(value);
  while (typeof found.$ref === 'string' && !seen.has(found.$ref)) {
    seen.add(found.$ref);
    found = asJsonObject(at(root, found.$ref));
  }
  return found;
}

/** The value that a pointer within the document leads to. */
export const at = (root: JsonObject, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (place, step) => (typeof place === 'object' && place !== null ? Reflect.get(place, step) : {}),
      root,
    );

/** The address of a server with its variables filled in; undefined where it is no whole one. */
export function addressOf(server: JsonObject | undefined, address: string | undefined): string | undefined {
  const template = typeof server?.url === 'string' ? server.url : '/';
  const variables = asJsonObject(server?.variables);
  // A document may leave the scheme to whoever reads it.
  const whole = template.replace(/^\/\//, 'https://');
  const url = whole.replaceAll(/\{([^}]*)\}/g, (_whole, name) => String(asJsonObject(variables[name]).default ?? ''));
  return URL.canParse(url, address) ? new URL(url, address).href.replace(/\/+$/, '') : undefined;
}
