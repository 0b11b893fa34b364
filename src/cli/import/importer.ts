/** Makes endpoints of a catalogue out of an OpenAPI document. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckedCatalogue, checkedCatalogue } from '../../catalogue/checked.ts';
import type { CatalogueParts } from '../../catalogue/contracts.ts';
import { checkCatalogue } from '../../catalogue/load.ts';
import type { Catalogue, UpstreamFile } from '../../catalogue/types.ts';
import { formatDiagnostic } from '../../catalogue/yaml/diagnostic.ts';
import { choices } from '../../catalogue/yaml/suggest.ts';
import { asJsonObject } from '../../json.ts';
import { UsageProblem } from '../command-line.ts';
import { addToCatalogue } from './add.ts';
import { readDocument } from './document.ts';
import { endpointFor, pathOf, type Sale } from './endpoint.ts';
import { type Operation, operationsOf, titleOf } from './operations.ts';
import { asksForNothing } from './result.ts';
import { chooseScheme, refusedWith, unnamedSchemes } from './security.ts';
import { Unsupported } from './unsupported.ts';
import { baseUrlOf, elsewhere, upstreamFile, upstreamNameOf } from './upstream.ts';
import { fileYaml } from './yaml.ts';

export interface ImportOptions {
  /** A file or an https URL. */
  readonly source: string;
  /** The catalogue's directory. */
  readonly catalogue: string;
  /** Decimal dollars, for every operation. */
  readonly price: string;
  /** Ids or names; empty: all of them. */
  readonly operations: readonly string[];
  readonly group?: string | undefined;
  readonly upstream?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** One operation and what became of it. */
export interface Outcome {
  /** Its name in the catalogue: `get-forecast`. */
  readonly name: string;
  /** `GET /forecast/{city}`. */
  readonly title: string;
  readonly kind: 'written' | 'there already' | 'left out';
  /** Below the catalogue. */
  readonly file: string;
  /** Why it was left, or what of it could not be carried over. */
  readonly notes: readonly string[];
}

export interface Report {
  readonly upstream: { readonly name: string; readonly file: UpstreamFile; readonly isNew: boolean };
  readonly outcomes: readonly Outcome[];
  /** Of the document as a whole. */
  readonly remarks: readonly string[];
}

/**
 * Imports into a catalogue, which passes its check before and after. `checked`: what was found sound before. `tell`: takes
 * lines on how far it is. Throws UsageProblem, with nothing written.
 */
export async function importDocument(
  options: ImportOptions,
  parts: CatalogueParts,
  checked: CheckedCatalogue = checkedCatalogue(),
  tell: (line: string) => void = () => {},
): Promise<Report> {
  const { catalogue, diagnostics } = checkCatalogue(options.catalogue, parts, checked);
  if (!catalogue) {
    const found = diagnostics.map(formatDiagnostic).join('\n');
    throw new UsageProblem(`${found}\nthe catalogue has to be right before anything is imported into it`);
  }
  const document = await readDocument(options.source);
  const all = operationsOf(document);
  const operations = chosen(all, options.operations);
  const scheme = chooseScheme(document, operations);
  const baseUrl = baseUrlOf(document, options.baseUrl);
  const name = options.upstream ?? upstreamNameOf(document, baseUrl);
  const { file, isNew } = upstreamIn(catalogue, name, upstreamFile(name, baseUrl, scheme));
  demandOwnKeys(catalogue, file);
  const sale: Sale = { group: options.group ?? name, upstream: name, price: options.price, scheme };
  const context = { root: document.root, checked };
  const comment = commentIn(options.catalogue);
  const sold = new Set(catalogue.routes.map(({ path }) => path));
  const texts = new Map<string, string>();
  const careless: string[] = [];
  const outcomes = operations.map((operation, index): Outcome => {
    if (index > 0 && index % 100 === 0) tell(`operations read: ${index} of ${operations.length}`);
    const below = `endpoints/${sale.group}/${operation.name}.yaml`;
    const outcome = { name: operation.name, title: titleOf(operation), file: below };
    if (existsSync(join(options.catalogue, below))) return { ...outcome, kind: 'there already', notes: [] };
    if (sold.has(pathOf(operation, sale))) {
      return { ...outcome, kind: 'there already', notes: [`${pathOf(operation, sale)} is sold by another file`] };
    }
    try {
      const server = elsewhere(operation, document, baseUrl);
      if (server !== undefined) throw new Unsupported(`is at ${server}: import it with --base-url and --upstream`);
      const reason = refusedWith(document, operation, scheme);
      if (reason !== undefined) throw new Unsupported(reason);
      const plan = endpointFor(operation, sale, context);
      texts.set(below, fileYaml(plan.file, comment));
      if (asksForNothing(plan.file.result)) careless.push(below);
      return { ...outcome, kind: 'written', notes: plan.notes };
    } catch (error) {
      if (error instanceof Unsupported) return { ...outcome, kind: 'left out', notes: [error.message] };
      throw error;
    }
  });
  if (texts.size > 0) tell(`endpoints that are checked: ${texts.size}`);
  const added = { upstream: isNew ? { name, entry: file } : undefined, files: texts };
  const refused = addToCatalogue(options.catalogue, added, parts, checked);
  return {
    upstream: { name, file, isNew },
    outcomes: outcomes.map((outcome) => {
      const notes = refused.get(outcome.file);
      return notes ? { ...outcome, kind: 'left out', notes } : outcome;
    }),
    remarks: [
      ...document.faults.map((fault) => `the document is not quite right: ${fault}`),
      ...(scheme?.remark ? [scheme.remark] : []),
      ...(scheme ? [] : unnamedSchemes(document, all, name)),
      ...carelessRemark(careless.filter((each) => !refused.has(each))),
    ],
  };
}

function carelessRemark([first, ...others]: readonly string[]): string[] {
  if (first === undefined) return [];
  const which = others.length === 0 ? first : `${first} and ${others.length} more`;
  return [
    `an error with status 200 would be sold where a result requires no field: write required under result, or failed under upstream, in ${which}`,
  ];
}

function chosen(operations: readonly Operation[], ids: readonly string[]): readonly Operation[] {
  const called = (id: string) => (operation: Operation) =>
    [operation.id, operation.name, titleOf(operation)].includes(id);
  for (const id of ids) {
    if (operations.some(called(id))) continue;
    const known = operations.map(({ id, name }) => id ?? name);
    throw new UsageProblem(`--operation: the document has no operation ${id}; ${choices(id, known)}`);
  }
  return ids.length === 0 ? operations : operations.filter((operation) => ids.some((id) => called(id)(operation)));
}

/** The upstream of that name: the one that is there, where it is the same provider. */
function upstreamIn({ upstreams }: Catalogue, name: string, wanted: UpstreamFile) {
  const there = upstreams.get(name);
  if (!there) return { file: wanted, isNew: true };
  if (there.adapter === 'http' && there.baseUrl === wanted.baseUrl) return { file: there, isNew: false };
  const other = `${there.adapter} at ${there.baseUrl}`;
  throw new UsageProblem(`the catalogue has an upstream ${name} already, ${other}: give another name with --upstream`);
}

/**
 * Whoever wrote the document says where it is served and what it is called, and so how the variables of its keys are named:
 * what one of them holds for another provider is not sent there. Throws UsageProblem.
 */
function demandOwnKeys({ upstreams }: Catalogue, wanted: UpstreamFile): void {
  for (const [name, other] of upstreams) {
    const variables = Object.values(wanted.keys ?? {});
    const shared = Object.values(other.keys ?? {}).find((variable) => variables.includes(variable));
    const known = originsOf(other);
    const origin = originsOf(wanted).find((one) => !known.includes(one));
    if (shared === undefined || origin === undefined) continue;
    throw new UsageProblem(
      `${shared} is the key of ${name} at ${other.baseUrl}, and would be sent to ${origin}: give another name with --upstream`,
    );
  }
}

/** Where an upstream's keys go: its address, and the place that hands out tokens for them. */
function originsOf({ baseUrl, settings }: UpstreamFile): string[] {
  const ways = [settings?.authorize ?? []].flat().map((way) => asJsonObject(way).oauth);
  const places = ways.filter((place) => typeof place === 'string' && URL.canParse(place)) as string[];
  return [baseUrl, ...places].map((place) => new URL(place).origin);
}

/** Where the catalogue's neighbour says what endpoint files may hold, editors are told. */
const commentIn = (directory: string): string | undefined =>
  existsSync(join(directory, '..', 'generated', 'endpoint.schema.json'))
    ? '# yaml-language-server: $schema=../../../generated/endpoint.schema.json'
    : undefined;
