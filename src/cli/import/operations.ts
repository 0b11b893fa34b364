/** The operations of a document. */
import { asJsonObject, asJsonObjects, type JsonObject } from '../../json.ts';
import { type ApiDocument, resolved } from './document.ts';
import { kebab, untaken } from './text.ts';

export interface Operation {
  /** As the document has it; undefined where it has none. */
  readonly id: string | undefined;
  /** Its name in the catalogue. */
  readonly name: string;
  /** `GET /forecast/{city}`. */
  readonly title: string;
  /** `GET`. */
  readonly method: string;
  /** With its `{places}`. */
  readonly path: string;
  readonly source: JsonObject;
  /** Its own and those of its path. */
  readonly parameters: readonly JsonObject[];
  /** Its own servers; empty where it has those of the document. */
  readonly servers: readonly JsonObject[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const;

/** Every operation, in the document's order. */
export function operationsOf({ root }: ApiDocument): Operation[] {
  const taken = new Set<string>();
  return Object.entries(asJsonObject(root.paths)).flatMap(([path, given]) => {
    const item = resolved(root, given);
    return METHODS.filter((method) => method in item).map((method): Operation => {
      const source = asJsonObject(item[method]);
      const id = typeof source.operationId === 'string' ? source.operationId : undefined;
      const name = kebab(id ?? '') || kebab(`${method} ${path}`);
      return {
        id,
        name: untaken(name, taken, '-'),
        title: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        source,
        parameters: parametersOf(root, item, source),
        servers: asJsonObjects(source.servers ?? item.servers),
      };
    });
  });
}

/** An operation's own parameter takes the place of its path's of the same name. */
function parametersOf(root: JsonObject, item: JsonObject, source: JsonObject): JsonObject[] {
  const all = [item.parameters, source.parameters].flatMap(asJsonObjects).map((given) => resolved(root, given));
  return [...new Map(all.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values()];
}
