/** The catalogue's schemas as TypeScript: what recipes and adapters take and give. */

import type { RailDeclaration } from '../src/catalogue/rails.ts';
import { closedRequest, openResult } from '../src/catalogue/schemas/schemas.ts';
import { type Fragments, inlineFragments } from '../src/catalogue/yaml/fragments.ts';
import { isJsonObject, type JsonObject } from '../src/json.ts';
import { NOTICE, pascalCase } from './names.ts';
import { declare, plain, withoutConditions } from './schema-types.ts';

/** A request once it is valid: what has a default is there. */
function validRequest(schema: JsonObject): JsonObject {
  const kept = withoutConditions(schema);
  const properties = isJsonObject(kept.properties) ? kept.properties : {};
  const defaulted = Object.keys(properties).filter((name) => {
    const property = properties[name];
    return isJsonObject(property) && property.default !== undefined;
  });
  const required = Array.isArray(kept.required) ? kept.required : [];
  return plain({ ...kept, required: [...new Set([...required, ...defaulted])] });
}

const fileOf = (declarations: readonly string[]): string => `// ${NOTICE}\n\n${declarations.join('\n\n')}\n`;

/** `generated/schemas/<fragment>.ts`, or undefined for a fragment that is no object. */
export async function fragmentTypes(
  name: string,
  fragments: Fragments,
  isRequest: boolean,
): Promise<string | undefined> {
  const schema = inlineFragments({ $ref: name }, fragments);
  if (schema.type !== 'object') return undefined;
  const shape = isRequest ? validRequest(closedRequest(schema)) : plain(schema);
  return fileOf([await declare(shape, pascalCase(name))]);
}

/** The name of the fragment that a result is, when it is one and nothing else. */
function fragmentOf(result: unknown, fragments: Fragments): string | undefined {
  if (!isJsonObject(result) || typeof result.$ref !== 'string') return undefined;
  const own = Object.keys(result).filter((keyword) => !['$ref', 'examples', 'description'].includes(keyword));
  const isWhole = own.length === 0 && inlineFragments(result, fragments).type === 'object';
  return isWhole ? result.$ref : undefined;
}

async function resultType(result: unknown, name: string, fragments: Fragments): Promise<string> {
  const fragment = fragmentOf(result, fragments);
  if (fragment !== undefined) {
    return `export type { ${pascalCase(fragment)} as ${name} } from '../../schemas/${fragment}.ts';`;
  }
  return await declare(plain(openResult(inlineFragments(result, fragments))), name);
}

const requestType = (request: unknown, name: string, fragments: Fragments): Promise<string> =>
  declare(validRequest(closedRequest(inlineFragments(request, fragments))), name);

/**
 * `generated/endpoints/<group>/<name>.ts`: `Request` (as validated, defaults filled in) and `Result` (without the
 * envelope), and `<Network>Request`, `<Network>Result` and `<Key>Request` where mirrors and operations have their own.
 */
export async function endpointTypes(
  file: JsonObject,
  fragments: Fragments,
  rails: readonly RailDeclaration[],
): Promise<string> {
  const declarations = [
    await resultType(file.result, 'Result', fragments),
    await requestType(file.request, 'Request', fragments),
  ];
  for (const mirror of Array.isArray(file.mirrors) ? file.mirrors : []) {
    const prefix = pascalCase(String(mirror.network));
    if (mirror.request !== undefined)
      declarations.push(await requestType(mirror.request, `${prefix}Request`, fragments));
    if (mirror.result !== undefined) declarations.push(await resultType(mirror.result, `${prefix}Result`, fragments));
  }
  for (const { operation } of rails) {
    const block = operation && file[operation.key];
    if (!operation || !isJsonObject(block) || block.request === undefined) continue;
    declarations.push(await requestType(block.request, `${pascalCase(operation.key)}Request`, fragments));
  }
  return fileOf(declarations);
}
