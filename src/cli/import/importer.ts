/** Makes endpoints of a catalogue out of what a provider says of itself. */
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
import { type EndpointPlan, pathOf, type Sale } from './endpoint.ts';
import { asksForNothing } from './result.ts';
import { Unsupported } from './unsupported.ts';
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
}

/** What a provider does, and what can be sold. */
export interface Named {
  /** As the provider has it; undefined where it has none. */
  readonly id: string | undefined;
  /** Its name in the catalogue. */
  readonly name: string;
  /** How people know it: `GET /forecast/{city}`. */
  readonly title: string;
}

/** What a provider says of itself. */
export interface Provider<Operation extends Named> {
  /** What it is called in the catalogue, unless the operator says so. */
  readonly name: string;
  readonly operations: readonly Operation[];
  /** How some of them are sold. `upstream`: what it is called in the catalogue. */
  offer(chosen: readonly Operation[], upstream: string): Offer<Operation>;
}

/** Throws UsageProblem where the provider says nothing that can be read. */
export type ReadProvider<Operation extends Named> = (checked: CheckedCatalogue) => Promise<Provider<Operation>>;

export interface Offer<Operation extends Named> {
  readonly upstream: UpstreamFile;
  /** Throws Unsupported. */
  plan(operation: Operation, sale: Sale): EndpointPlan;
  /** Whether its failures are none of its results, whatever these may hold. */
  readonly tellsFailures: boolean;
  /** Of the provider as a whole. */
  readonly remarks: readonly string[];
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
  /** Of the provider as a whole. */
  readonly remarks: readonly string[];
}

/**
 * Imports into a catalogue, which passes its check before and after. `read`: asks the provider, once the catalogue is found
 * right. `checked`: what was found sound before. `tell`: takes lines on how far it is. Throws UsageProblem, with nothing
 * written.
 */
export async function importFrom<Operation extends Named>(
  read: ReadProvider<Operation>,
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
  const provider = await read(checked);
  const operations = chosen(provider.operations, options.operations);
  const name = options.upstream ?? provider.name;
  const offer = provider.offer(operations, name);
  const { file, isNew } = upstreamIn(catalogue, name, offer.upstream);
  demandOwnKeys(catalogue, file);
  const sale: Sale = { group: options.group ?? name, upstream: name, price: options.price };
  const comment = commentIn(options.catalogue);
  const sold = new Set(catalogue.routes.map(({ path }) => path));
  const texts = new Map<string, string>();
  const careless: string[] = [];
  const outcomes = operations.map((operation, index): Outcome => {
    if (index > 0 && index % 100 === 0) tell(`operations read: ${index} of ${operations.length}`);
    const below = `endpoints/${sale.group}/${operation.name}.yaml`;
    const outcome = { name: operation.name, title: operation.title, file: below };
    if (existsSync(join(options.catalogue, below))) return { ...outcome, kind: 'there already', notes: [] };
    const path = pathOf(operation, sale);
    if (sold.has(path)) return { ...outcome, kind: 'there already', notes: [`${path} is sold by another file`] };
    try {
      const plan = offer.plan(operation, sale);
      texts.set(below, fileYaml(plan.file, comment));
      if (!offer.tellsFailures && asksForNothing(plan.file.result)) careless.push(below);
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
    remarks: [...offer.remarks, ...carelessRemark(careless.filter((each) => !refused.has(each)))],
  };
}

function carelessRemark([first, ...others]: readonly string[]): string[] {
  if (first === undefined) return [];
  const which = others.length === 0 ? first : `${first} and ${others.length} more`;
  return [
    `an error with status 200 would be sold where a result requires no field: write required under result, or failed under upstream, in ${which}`,
  ];
}

function chosen<Operation extends Named>(
  operations: readonly Operation[],
  ids: readonly string[],
): readonly Operation[] {
  const called = (id: string) => (operation: Operation) => [operation.id, operation.name, operation.title].includes(id);
  for (const id of ids) {
    if (operations.some(called(id))) continue;
    const known = operations.map(({ id, name }) => id ?? name);
    throw new UsageProblem(`--operation: there is no operation ${id}; ${choices(id, known)}`);
  }
  return ids.length === 0 ? operations : operations.filter((operation) => ids.some((id) => called(id)(operation)));
}

/** The upstream of that name: the one that is there, where it is the same provider. */
function upstreamIn({ upstreams }: Catalogue, name: string, wanted: UpstreamFile) {
  const there = upstreams.get(name);
  if (!there) return { file: wanted, isNew: true };
  if (there.adapter === wanted.adapter && there.baseUrl === wanted.baseUrl) return { file: there, isNew: false };
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
