/** `catalogue/README.md`: every key of every file, from the schemas that check them, with examples from the files. */
import type { AdapterDeclaration, CatalogueParts, RecipeDeclaration } from '../src/catalogue/contracts.ts';
import { endpointFileSchema, upstreamKeys } from '../src/catalogue/files/endpoint.ts';
import { networksFileSchema } from '../src/catalogue/files/networks.ts';
import { serviceFileSchema } from '../src/catalogue/files/service.ts';
import { modelProperties, upstreamFileSchema } from '../src/catalogue/files/upstreams.ts';
import { requestKeywords } from '../src/catalogue/schemas/request-keywords.ts';
import { KEYWORDS } from '../src/catalogue/schemas/schema-walk.ts';
import { asJsonObject, type JsonObject } from '../src/json.ts';
import { code, NAME, rowsOf, tableOf } from './reference-keys.ts';

/** The files of a catalogue as they are written: endpoints and schemas in the order of their names. */
export interface CatalogueFiles {
  readonly service: unknown;
  readonly networks: unknown;
  readonly upstreams: unknown;
  readonly endpoints: readonly unknown[];
  readonly schemas: readonly unknown[];
}

interface Section {
  readonly title: string;
  /** Paragraphs and tables. */
  readonly body: readonly string[];
  readonly sections?: readonly Section[];
}

const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  required,
  properties,
});

const keys = (schema: JsonObject, files: readonly unknown[]): string[] => tableOf(rowsOf(schema, files));

const valuesOf = (map: unknown): unknown[] => Object.values(asJsonObject(map));

/** Every object of a file, itself included. */
const within = (value: unknown): JsonObject[] =>
  typeof value !== 'object' || value === null
    ? []
    : [...(Array.isArray(value) ? [] : [asJsonObject(value)]), ...Object.values(value).flatMap(within)];

const list = (names: readonly string[]): string => names.map(code).join(', ');

function adapterSection(adapter: AdapterDeclaration, { upstreams, endpoints }: CatalogueFiles): Section {
  const { name, options, modelOptions, upstreamOptions, secrets, optionalSecrets = [], model } = adapter;
  const entries = Object.entries(asJsonObject(upstreams)).map(([via, entry]) => ({ ...asJsonObject(entry), via }));
  const own: JsonObject[] = entries.filter((entry: JsonObject) => entry.adapter === name);
  const uses = endpoints.flatMap(within).filter((use) => own.some(({ via }) => via === use.via));
  const rows = [
    ...rowsOf(
      modelOptions ?? {},
      own.flatMap((entry) => valuesOf(entry.models)),
      ['models', NAME],
    ),
    ...rowsOf(
      upstreamOptions ?? {},
      own.map(({ settings }) => settings),
      ['settings'],
    ),
    ...rowsOf(options, uses, ['upstream']),
  ];
  const models = {
    none: 'Its calls need no model.',
    named: 'A call needs a `model`.',
    'named-or-asked': "A call needs a `model`, or the request's field `model` names it.",
  };
  const about = [
    secrets.length > 0 ? `Secrets in \`keys\`: ${list(secrets)}.` : '',
    optionalSecrets.length > 0 ? `In \`keys\`, where it has one: ${list(optionalSecrets)}.` : '',
    models[model ?? 'none'],
  ];
  return { title: name, body: [about.filter((part) => part !== '').join(' '), ...tableOf(rows)] };
}

function recipeSection({ name, options, roles }: RecipeDeclaration, { endpoints }: CatalogueFiles): Section {
  const uses = endpoints.flatMap(within).filter(({ recipe }) => recipe === name);
  const players = Object.entries(roles).map(
    ([role, adapters]) => `${code(role)} (${adapters.map((adapter) => adapter.name).join(' or ')})`,
  );
  const about =
    players.length > 0 ? `Roles, and the adapters that play them: ${players.join(', ')}.` : 'It has no roles.';
  return { title: name, body: [about, ...keys(options, uses)] };
}

function sectionsOf(files: CatalogueFiles, { rules, adapters, recipes, rails }: CatalogueParts): Section[] {
  const { service, networks, upstreams, endpoints, schemas } = files;
  const models = valuesOf(upstreams).flatMap((entry) => valuesOf(asJsonObject(entry).models));
  const everything = endpoints.flatMap(within);
  const requests = [...schemas, ...endpoints].flatMap(within);
  return [
    { title: 'service.yaml', body: ['The service as a whole.', ...keys(serviceFileSchema(rails), [service])] },
    {
      title: 'networks.yaml',
      body: [
        'A map from the neutral id of a network, such as `chain-a`, to these:',
        ...keys(networksFileSchema.additionalProperties, valuesOf(networks)),
      ],
    },
    {
      title: 'upstreams.yaml',
      body: [
        'A map from the name of an upstream, which endpoints name by `via`, to these:',
        ...keys(upstreamFileSchema, valuesOf(upstreams)),
        'Each of its `models` may have these, and what its adapter adds:',
        ...keys(object(modelProperties, ['id']), models),
      ],
    },
    {
      title: 'endpoints/<group>/<name>.yaml',
      body: ['One endpoint, with its mirrors and operations.', ...keys(endpointFileSchema(rails), endpoints)],
      sections: [
        {
          title: 'upstream',
          body: [
            "Beside these keys stand those of the upstream's [adapter](#adapters), or of the [recipe](#recipes).",
            ...keys(object(upstreamKeys), everything),
          ],
        },
      ],
    },
    {
      title: 'Price rules',
      body: ['A price is a map with the name of its `rule`, and the options of that rule.'],
      sections: rules.map(({ name, options }) => {
        const uses = everything.filter(({ rule }) => rule === name);
        return { title: name, body: keys(asJsonObject(options), uses) };
      }),
    },
    {
      title: 'Adapters',
      body: [
        'What an adapter adds to its upstream in `upstreams.yaml` (`models`, `settings`) and to the `upstream` of an endpoint.',
      ],
      sections: adapters.map((adapter) => adapterSection(adapter, files)),
    },
    {
      title: 'Recipes',
      body: ['What a recipe takes in the `upstream` of an endpoint.'],
      sections: recipes.map((recipe) => recipeSection(recipe, files)),
    },
    {
      title: 'schemas/<name>.yaml',
      body: [
        'A fragment, which `$ref: <name>` puts in its place; keywords beside `$ref` win. Schemas are JSON Schema 2020-12:',
        list(KEYWORDS.filter((keyword) => !(keyword in requestKeywords))),
        'Properties of requests may have these as well:',
        ...keys(object(requestKeywords), requests),
      ],
    },
  ];
}

/** As GitHub makes it of a heading. */
const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const heading = (title: string): string => title.replaceAll('<', '&lt;');

const written = ({ title, body, sections = [] }: Section, level: number): string[] => [
  `${'#'.repeat(level)} ${heading(title)}`,
  ...body,
  ...sections.flatMap((section) => written(section, level + 1)),
];

const link = ({ title }: Section): string => `[${heading(title)}](#${anchor(title)})`;

/** Markdown. The same files and parts give the same text. */
export function reference(files: CatalogueFiles, parts: CatalogueParts): string {
  const sections = sectionsOf(files, parts);
  const contents = sections.map((section) => {
    const inner = (section.sections ?? []).map(link).join(', ');
    return `- ${link(section)}${inner === '' ? '' : `: ${inner}`}`;
  });
  return `${[
    '<!-- Made by `npm run codegen` from the schemas that check the catalogue. Changes here are lost. -->',
    '# The catalogue',
    'Every key of every file. Amounts are quoted decimal strings in dollars, durations are written like `300ms`, `30s` or ' +
      '`10m`. `npm run check` refuses what is not listed here. `[]` is each item of a list, `<name>` a name of your own.',
    contents.join('\n'),
    ...sections.flatMap((section) => written(section, 2)),
  ].join('\n\n')}\n`;
}
