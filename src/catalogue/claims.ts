import type { CheckContext } from './check-context.ts';
import type { OperationDeclaration } from './rails.ts';
import { planRoutes } from './route-plan.ts';
import { isObject } from './schema-walk.ts';
import { below, type CatalogueDocument, type SourceLocation } from './yaml-document.ts';

/** Every path belongs to one endpoint, and so does what an operation's options mark as unique on its rail. */
export function checkClaims(files: readonly { document: CatalogueDocument }[], context: CheckContext): void {
  const { diagnostics } = context.checker;
  const claims = new Map<string, SourceLocation>();
  const claim = (what: string, name: string, location: SourceLocation, rail = '') => {
    const key = `${rail} ${what} ${name}`;
    const other = claims.get(key);
    if (!other) {
      claims.set(key, location);
      return;
    }
    const { line } = other.document.position(other.path, other.part ?? 'value');
    diagnostics.add(
      location,
      `the ${what} ${name} is taken by ${other.document.file}:${line}`,
      `give one of them another ${what}`,
    );
  };
  for (const { document } of files) {
    for (const { path, location, rail, operation } of planRoutes(document, context)) {
      if (typeof path.value === 'string') claim('path', path.value, path.location);
      for (const option of operation ? uniqueOptions(operation.declaration) : []) {
        const value = operation?.value[option];
        if (typeof value === 'string') claim(option, value, below(location, option), rail.name);
      }
    }
  }
}

const uniqueOptions = ({ options }: OperationDeclaration): string[] =>
  Object.entries(isObject(options.properties) ? options.properties : {}).flatMap(([option, schema]) =>
    isObject(schema) && schema['x-unique'] === true ? [option] : [],
  );
