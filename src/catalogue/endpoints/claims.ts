import { isJsonObject } from '../../json.ts';
import type { CheckContext } from '../check-context.ts';
import type { OperationDeclaration } from '../rails.ts';
import { below, type CatalogueDocument, type SourceLocation } from '../yaml/yaml-document.ts';
import { isBelow, isOwnPath } from './own-paths.ts';
import { planRoutes, type RoutePlan, routeId } from './route-plan.ts';

/**
 * Every path belongs to one endpoint, and so does the name by which books and figures know it, and what an operation's options
 * mark as unique on its rail.
 */
export function checkClaims(
  files: readonly { readonly id: string; readonly document: CatalogueDocument }[],
  context: CheckContext,
): void {
  const { diagnostics } = context.checker;
  const claims = new Map<string, SourceLocation>();
  /** False where it is taken, which is reported. */
  const claim = (what: string, name: string, location: SourceLocation, rail = ''): boolean => {
    const key = `${rail} ${what} ${name}`;
    const other = claims.get(key);
    if (!other) {
      claims.set(key, location);
      return true;
    }
    const { line } = other.document.position(other.path, other.part ?? 'value');
    diagnostics.add(
      location,
      `the ${what} ${name} is taken by ${other.document.file}:${line}`,
      `give one of them another ${what}`,
    );
    return false;
  };
  for (const { id, document } of files) {
    for (const plan of planRoutes(document, context)) {
      const { kind, path, location, rail, operation } = plan;
      checkOwnPaths(plan, context);
      if (typeof path.value === 'string' && claim('path', path.value, path.location)) {
        claim('name', routeId(kind, id, path.value), path.location);
      }
      for (const option of operation ? uniqueOptions(operation.declaration) : []) {
        const value = operation?.value[option];
        if (typeof value === 'string') claim(option, value, below(location, option), rail.name);
      }
    }
  }
}

/** Nothing is sold where the gateway answers for itself, or below a prefix that means another rail or network. */
function checkOwnPaths({ kind, path, networks: sold, upstreams }: RoutePlan, context: CheckContext): void {
  const { rails, networks, recipes, checker } = context;
  const { value } = path;
  if (typeof value !== 'string') return;
  const refuse = (owner: string) =>
    checker.diagnostics.add(path.location, `the path ${value} belongs to ${owner}`, 'choose another path');
  const isSoldThere = upstreams.some(
    ({ value: use }) => isJsonObject(use) && recipes.get(String(use.recipe))?.ownPath === value,
  );
  if (isOwnPath(value) && !isSoldThere) refuse('the gateway itself');
  for (const { title, operation } of rails) {
    if (kind !== 'operation' && operation && isBelow(value, operation.pathPrefix)) refuse(`operations over ${title}`);
  }
  for (const { id, prefix } of networks?.values() ?? []) {
    const isItsMirror = kind === 'mirror' && sold.includes(id);
    if (prefix !== undefined && !isItsMirror && isBelow(value, `/${prefix}`)) refuse(`the mirrors on ${id}`);
  }
}

const uniqueOptions = ({ options }: OperationDeclaration): string[] =>
  Object.entries(isJsonObject(options.properties) ? options.properties : {}).flatMap(([option, schema]) =>
    isJsonObject(schema) && schema['x-unique'] === true ? [option] : [],
  );
