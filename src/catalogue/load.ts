import { existsSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { CheckContext } from './check-context.ts';
import { type CheckedCatalogue, checkedCatalogue } from './checked.ts';
import { Checker } from './checker.ts';
import type { CatalogueParts } from './contracts.ts';
import { checkClaims } from './endpoints/claims.ts';
import { readEndpoint } from './endpoints/endpoint.ts';
import { endpointFileSchema } from './files/endpoint.ts';
import { serviceFileSchema } from './files/service.ts';
import { checkNames, type KnownNames } from './names.ts';
import { isWellWritten, openResult, refusals, SchemaCompiler } from './schemas/schemas.ts';
import { pricedModels, readNetworks, readService, readUpstreams } from './settings/settings.ts';
import type { Catalogue, Network, ServiceFile } from './types.ts';
import { UpstreamUse } from './upstreams/upstream-use.ts';
import { versionOf } from './version.ts';
import { CatalogueErrors, type Diagnostic, orErrors } from './yaml/diagnostic.ts';
import { type Fragment, type Fragments, inlineFragments, readFragments } from './yaml/fragments.ts';
import { below, type CatalogueDocument, Diagnostics, readDocument, type SourceLocation } from './yaml/yaml-document.ts';
import { unread, yamlFilesBelow } from './yaml/yaml-files.ts';

/**
 * Reads the catalogue in `directory`. Throws CatalogueErrors, with every mistake of every file. What `checked` knows is
 * taken as sound, and what is found so is added.
 */
export function loadCatalogue(directory: string, parts: CatalogueParts, checked?: CheckedCatalogue): Catalogue {
  const { catalogue, diagnostics } = checkCatalogue(directory, parts, checked);
  if (!catalogue) throw new CatalogueErrors(diagnostics);
  return catalogue;
}

/**
 * The networks alone, for whoever looks at payments: a mistake in an endpoint must not keep money from being given back.
 * Throws CatalogueErrors.
 */
export function loadNetworks(directory: string): readonly Network[] {
  const diagnostics = new Diagnostics();
  const location = readSetting(join(directory, 'networks.yaml'), diagnostics);
  const networks = location && readNetworks(location, new Checker(diagnostics));
  const found = diagnostics.sorted();
  if (found.length > 0 || !networks) throw new CatalogueErrors(found);
  return [...networks.values()];
}

/**
 * Reads the catalogue in `directory`: the catalogue, or all its mistakes in the order of reading. Throws ConfigProblem where
 * Node compiles no validators.
 */
export function checkCatalogue(
  directory: string,
  parts: CatalogueParts,
  checked: CheckedCatalogue = checkedCatalogue(),
): { catalogue?: Catalogue; diagnostics: Diagnostic[] } {
  const fault = faultOf(directory);
  if (fault) return { diagnostics: [fault] };
  // Before they are read: what is written meanwhile has another version, so that the next reading finds something new.
  const version = orErrors(() => versionOf(directory));
  if (version instanceof CatalogueErrors) return { diagnostics: [...version.diagnostics] };
  const diagnostics = new Diagnostics();
  const checker = new Checker(diagnostics, checked);
  const compiler = new SchemaCompiler(diagnostics, checked);
  const [serviceLocation, networksLocation, upstreamsLocation] = ['service', 'networks', 'upstreams'].map((name) =>
    readSetting(join(directory, `${name}.yaml`), diagnostics, checked),
  );
  const serviceFile = serviceFileSchema(parts.rails);
  const service = serviceLocation && readService(serviceLocation, checker, serviceFile);
  const networks = networksLocation && readNetworks(networksLocation, checker);
  const upstreams = upstreamsLocation && readUpstreams(upstreamsLocation, checker, parts);
  const fragments = readFragments(join(directory, 'schemas'), diagnostics, checked);
  const names = namesOf(service, networks);
  if (serviceLocation) checkNames(serviceLocation, serviceLocation.document.value, serviceFile, names, diagnostics);
  const context: CheckContext = {
    service,
    networks,
    rails: parts.rails,
    endpointFile: endpointFileSchema(parts.rails),
    names,
    models: upstreams && pricedModels(upstreamsLocation, upstreams, checker),
    fragments,
    soundFragments: checkFragments(fragments, compiler, checked),
    rules: new Map(parts.rules.map((rule) => [rule.name, rule])),
    recipes: new Map(parts.recipes.map((recipe) => [recipe.name, recipe])),
    upstreamUse: new UpstreamUse(checker, upstreams, parts),
    checker,
    compiler,
    checked,
  };
  const files = readEndpointFiles(join(directory, 'endpoints'), diagnostics, checked);
  checkClaims(files, context);
  const endpoints = files.map(({ id, document }) => readEndpoint(document, id, context));
  if (upstreamsLocation) context.upstreamUse.models.checkFields(upstreamsLocation);
  const found = diagnostics.sorted();
  if (found.length > 0 || !service || !networks || !upstreams) return { diagnostics: found };
  const routes = endpoints.flatMap((endpoint) => endpoint.routes);
  return { catalogue: { version, service, networks, upstreams, endpoints, routes }, diagnostics: found };
}

const nowhere = (directory: string): Diagnostic => ({
  file: directory,
  line: 1,
  column: 1,
  message: 'there is no such directory',
  expected: 'TURNPIKE_CATALOGUE says where the catalogue is',
});

function faultOf(directory: string): Diagnostic | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false })?.isDirectory() ? undefined : nowhere(directory);
  } catch (error) {
    return unread(directory, 'folder', error);
  }
}

function namesOf(service: ServiceFile | undefined, networks: ReadonlyMap<string, Network> | undefined): KnownNames {
  const all = networks && [...networks.values()];
  return {
    tag: service?.tags,
    network: all?.map(({ id }) => id),
    'EVM network': all?.filter(({ family }) => family === 'evm').map(({ id }) => id),
  };
}

/** The place of one of the three files beside the endpoints, or undefined when it cannot be read. */
function readSetting(path: string, diagnostics: Diagnostics, checked?: CheckedCatalogue): SourceLocation | undefined {
  if (existsSync(path)) {
    const document = readDocument(path, diagnostics, checked);
    return document.value === undefined ? undefined : { document, path: [] };
  }
  const file = relative(process.cwd(), path);
  const missing = { file, value: undefined, position: () => ({ line: 1, column: 1 }), source: () => undefined };
  diagnostics.add(
    { document: missing, path: [] },
    'there is no such file',
    'a catalogue has service.yaml, networks.yaml and upstreams.yaml',
  );
  return undefined;
}

/** Checks fragments for themselves, and gives them back with those that are wrong replaced by ones that take anything. */
function checkFragments(fragments: Fragments, compiler: SchemaCompiler, checked: CheckedCatalogue): Fragments {
  const sound = new Map<string, Fragment>();
  for (const [name, fragment] of fragments) {
    const location: SourceLocation = { document: fragment.document, path: [] };
    const before = compiler.diagnostics.count;
    if (isWellWritten(location, fragment.schema, fragments, compiler)) {
      const { default: fallback, ...schema } = inlineFragments(fragment.schema, fragments);
      // In the form that results have, so that those which are this fragment find it compiled.
      const form = schema.type === 'object' ? openResult(schema) : schema;
      const examples = Array.isArray(fragment.schema.examples) ? fragment.schema.examples : [];
      const tried = [examples, fallback];
      const validate = checked.has(form, tried) ? undefined : compiler.compile(form, location, 'result');
      const values = examples.map((example, index) => ({ what: 'example', path: ['examples', index], value: example }));
      if (fallback !== undefined) values.push({ what: 'default', path: ['default'], value: fallback });
      for (const { what, path, value } of validate ? values : []) {
        for (const { path: inner, message, expected } of refusals(validate as ValidateFunction, value)) {
          const where = below(location, ...path, ...inner);
          compiler.diagnostics.add(where, `the ${what} does not fit the schema: ${message}`, expected);
        }
      }
      if (compiler.diagnostics.count === before) checked.add(form, tried);
    }
    sound.set(name, compiler.diagnostics.count === before ? fragment : { ...fragment, schema: {} });
  }
  return sound;
}

function readEndpointFiles(
  directory: string,
  diagnostics: Diagnostics,
  checked: CheckedCatalogue,
): { id: string; document: CatalogueDocument }[] {
  const files: { id: string; document: CatalogueDocument }[] = [];
  for (const name of yamlFilesBelow(directory)) {
    const document = readDocument(join(directory, name), diagnostics, checked);
    const id = name
      .replace(/\.ya?ml$/, '')
      .split(sep)
      .join('/');
    files.push({ id, document });
    if (name.endsWith('.yml'))
      diagnostics.add({ document, path: [] }, 'the name ends in .yml', 'rename the file to end in .yaml');
    if (id.split('/').length !== 2) {
      diagnostics.add(
        { document, path: [] },
        'the file is not in a group',
        'an endpoint is endpoints/<group>/<name>.yaml',
      );
    }
  }
  return files;
}
