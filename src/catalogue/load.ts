import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { type CheckedSchemas, checkedSchemas } from './checked.ts';
import { Checker } from './checker.ts';
import type { CatalogueParts } from './contracts.ts';
import { below, type CatalogueDocument, Findings, type Place, readDocument } from './document.ts';
import { readEndpoint } from './endpoint.ts';
import { type Fragment, type Fragments, inlineFragments, readFragments } from './fragments.ts';
import { CatalogueErrors, type CatalogueProblem } from './problem.ts';
import { planRoutes } from './route-plan.ts';
import { isObject } from './schema-walk.ts';
import { isWellWritten, openResult, refusals, SchemaCompiler } from './schemas.ts';
import { pricedModels, readNetworks, readService, readUpstreams } from './settings.ts';
import type { Surroundings } from './surroundings.ts';
import type { Catalogue, Network } from './types.ts';
import { UpstreamUse } from './upstream-use.ts';

/**
 * Reads the catalogue in `directory`. Throws CatalogueErrors, with every problem of every file. Schemas in `checked` are
 * taken as sound, and those found so are added.
 */
export function loadCatalogue(directory: string, parts: CatalogueParts, checked?: CheckedSchemas): Catalogue {
  const { catalogue, problems } = checkCatalogue(directory, parts, checked);
  if (!catalogue) throw new CatalogueErrors(problems);
  return catalogue;
}

/** Reads the catalogue in `directory`: the catalogue, or all its problems in the order of reading. */
export function checkCatalogue(
  directory: string,
  parts: CatalogueParts,
  checked: CheckedSchemas = checkedSchemas(),
): { catalogue?: Catalogue; problems: CatalogueProblem[] } {
  const findings = new Findings();
  const checker = new Checker(findings);
  const compiler = new SchemaCompiler(findings);
  const [servicePlace, networksPlace, upstreamsPlace] = ['service', 'networks', 'upstreams'].map((name) =>
    readSetting(join(directory, `${name}.yaml`), findings),
  );
  const service = servicePlace && readService(servicePlace, checker);
  const networks = networksPlace && readNetworks(networksPlace, checker);
  const upstreams = upstreamsPlace && readUpstreams(upstreamsPlace, checker, parts);
  const fragments = readFragments(join(directory, 'schemas'), findings);
  const surroundings: Surroundings = {
    service,
    networks,
    models: upstreams && pricedModels(upstreamsPlace, upstreams, checker),
    fragments,
    soundFragments: checkFragments(fragments, compiler, checked),
    rules: new Map(parts.rules.map((rule) => [rule.name, rule])),
    upstreamUse: new UpstreamUse(checker, upstreams, parts),
    checker,
    compiler,
    checked,
  };
  const files = readEndpointFiles(join(directory, 'endpoints'), findings);
  checkClaims(files, networks, findings);
  const endpoints = files.map(({ id, document }) => readEndpoint(document, id, surroundings));
  const problems = findings.sorted();
  if (problems.length > 0 || !service || !networks || !upstreams) return { problems };
  const routes = endpoints.flatMap((endpoint) => endpoint.routes);
  return { catalogue: { service, networks, upstreams, endpoints, routes }, problems };
}

/** The place of one of the three files beside the endpoints, or undefined when it cannot be read. */
function readSetting(path: string, findings: Findings): Place | undefined {
  if (existsSync(path)) {
    const document = readDocument(path, findings);
    return document.value === undefined ? undefined : { document, path: [] };
  }
  const file = relative(process.cwd(), path);
  const missing = { file, value: undefined, position: () => ({ line: 1, column: 1 }), source: () => undefined };
  findings.add(
    { document: missing, path: [] },
    'there is no such file',
    'a catalogue has service.yaml, networks.yaml and upstreams.yaml',
  );
  return undefined;
}

/** Checks fragments for themselves, and gives them back with those that are wrong replaced by ones that take anything. */
function checkFragments(fragments: Fragments, compiler: SchemaCompiler, checked: CheckedSchemas): Fragments {
  const sound = new Map<string, Fragment>();
  for (const [name, fragment] of fragments) {
    const place: Place = { document: fragment.document, path: [] };
    const before = compiler.findings.count;
    if (isWellWritten(place, fragment.schema, fragments, compiler)) {
      const { default: fallback, ...schema } = inlineFragments(fragment.schema, fragments);
      // In the form that results have, so that those which are this fragment find it compiled.
      const form = schema.type === 'object' ? openResult(schema) : schema;
      const examples = Array.isArray(fragment.schema.examples) ? fragment.schema.examples : [];
      const tried = [examples, fallback];
      const validate = checked.has(form, tried) ? undefined : compiler.compile(form, place);
      const values = examples.map((example, index) => ({ what: 'example', path: ['examples', index], value: example }));
      if (fallback !== undefined) values.push({ what: 'default', path: ['default'], value: fallback });
      for (const { what, path, value } of validate ? values : []) {
        for (const { path: inner, message, expected } of refusals(validate as ValidateFunction, value)) {
          const where = below(place, ...path, ...inner);
          compiler.findings.add(where, `the ${what} does not fit the schema: ${message}`, expected);
        }
      }
      if (compiler.findings.count === before) checked.add(form, tried);
    }
    sound.set(name, compiler.findings.count === before ? fragment : { ...fragment, schema: {} });
  }
  return sound;
}

function readEndpointFiles(directory: string, findings: Findings): { id: string; document: CatalogueDocument }[] {
  const names = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : [];
  const files: { id: string; document: CatalogueDocument }[] = [];
  for (const name of names.sort()) {
    if (!/\.ya?ml$/.test(name)) continue;
    const document = readDocument(join(directory, name), findings);
    const id = name
      .replace(/\.ya?ml$/, '')
      .split(sep)
      .join('/');
    files.push({ id, document });
    if (name.endsWith('.yml'))
      findings.add({ document, path: [] }, 'the name ends in .yml', 'rename the file to end in .yaml');
    if (id.split('/').length !== 2) {
      findings.add(
        { document, path: [] },
        'the file is not in a group',
        'an endpoint is endpoints/<group>/<name>.yaml',
      );
    }
  }
  return files;
}

/** Every path and every MPP operation id belongs to one endpoint. */
function checkClaims(
  files: readonly { document: CatalogueDocument }[],
  networks: ReadonlyMap<string, Network> | undefined,
  findings: Findings,
): void {
  const claims = new Map<string, Place>();
  const claim = (what: string, name: string, place: Place) => {
    const other = claims.get(`${what} ${name}`);
    if (!other) {
      claims.set(`${what} ${name}`, place);
      return;
    }
    const { line } = other.document.position(other.path, other.part ?? 'value');
    findings.add(
      place,
      `the ${what} ${name} is taken by ${other.document.file}:${line}`,
      `give one of them another ${what}`,
    );
  };
  for (const { document } of files) {
    for (const { path } of planRoutes(document, networks)) {
      if (typeof path.value === 'string') claim('path', path.value, path.place);
    }
    const mpp = isObject(document.value) ? document.value.mpp : undefined;
    if (isObject(mpp) && typeof mpp.operationId === 'string') {
      claim('operationId', mpp.operationId, { document, path: ['mpp', 'operationId'] });
    }
  }
}
