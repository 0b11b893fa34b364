/** A typed client as TypeScript: what `createClient` of `turnpike/client` needs to know of one gateway. */
import { pascalCase } from '../../../codegen/names.ts';
import { declare, plain, withoutConditions } from '../../../codegen/schema-types.ts';
import { canonicalJson } from '../../canonical-json.ts';
import { linesWithoutControls } from '../../control-characters.ts';
import type { JsonObject } from '../../json.ts';
import { inComment, safeSchema } from './schema.ts';
import type { Sold, SoldPath } from './sold.ts';

const literal = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/[\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
    .replace(/^"((?:[^"'\\])*)"$/, "'$1'");

/** Names of types that were declared, by schema: mirrors take and answer what their endpoints do. */
class Types {
  readonly declarations: string[] = [];
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>(['Events', 'Gateway', 'Paths']);

  async nameOf(schema: JsonObject, wanted: string): Promise<string> {
    const key = canonicalJson(schema);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = this.#free(/^[A-Za-z]/.test(wanted) ? wanted : `Path${wanted}`);
    this.#names.set(key, name);
    this.declarations.push(await declare(schema, name));
    return name;
  }

  #free(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${wanted}${count}`;
    this.#taken.add(name);
    return name;
  }
}

async function pathLines(sold: SoldPath, types: Types): Promise<string> {
  const { path, summary, price, streams } = sold;
  const name = pascalCase(path);
  const request = await types.nameOf(plain(withoutConditions(safeSchema(sold.request))), `${name}Request`);
  const result = streams ? 'Events' : await types.nameOf(plain(safeSchema(sold.result)), `${name}Result`);
  return `  /** ${inComment(`${summary}: ${price}`)} */\n  ${literal(path)}: { request: ${request}; result: ${result} };`;
}

/** The text of the file, which may be written to a terminal. */
export async function writeClient({ url, paths, assets }: Sold): Promise<string> {
  const types = new Types();
  const lines: string[] = [];
  for (const sold of paths) lines.push(await pathLines(sold, types));
  const get = paths.filter(({ method }) => method === 'GET').map(({ path }) => path);
  const imported = paths.some(({ streams }) => streams) ? 'Events, Gateway' : 'Gateway';
  const text = [
    '// Made by `turnpike client`. Changes here are lost: run it again.',
    '',
    `import type { ${imported} } from 'turnpike/client';`,
    '',
    'export const gateway = {',
    `  url: ${literal(url)},`,
    '  // What may be signed for, and nothing else: dollar stablecoins that this gateway is paid in.',
    '  assets: [',
    ...assets.map((asset) => `    ${literal(asset)},`),
    '  ],',
    `  get: ${literal(get)},`,
    '} as const satisfies Gateway;',
    '',
    '/** What is sold: path -> what a call takes and answers. */',
    'export interface Paths {',
    ...lines,
    '}',
    '',
    types.declarations.join('\n\n'),
    '',
  ].join('\n');
  return linesWithoutControls(text);
}
