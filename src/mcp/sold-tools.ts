/** What is sold, as tools: one for each endpoint, and one for each of its mirrors. */
import type { Tool } from '@modelcontextprotocol/server';
import type { Network, NetworkId, Route } from '../catalogue/types.ts';
import { payableRoutes } from '../discovery/payable.ts';
import { priceInWords } from '../discovery/payment-info.ts';
import { answerSchema, requestFields, requestSchema, requiredFields } from '../discovery/schemas.ts';
import { toDecimal } from '../money.ts';
import { listedSchema } from './listed-schema.ts';
import { OWN_NAMES, toolName } from './tool-name.ts';

export interface SoldTool {
  readonly name: string;
  /** The first one is what the tool says of itself; the others sell the same on other rails. */
  readonly routes: readonly [Route, ...Route[]];
  /** Where the first one can be paid. */
  readonly networks: readonly NetworkId[];
  readonly definition: Tool;
}

/**
 * What a payment, a problem or an answer fits: clients of the first generation hold what is not an answer to the schema,
 * too.
 */
const orOtherwise = (...answers: readonly object[]): Tool['outputSchema'] => ({
  type: 'object',
  anyOf: [...answers, { required: ['x402Version', 'accepts'] }, { required: ['error'] }],
});

/** Answers that are no objects are put into one, under this name. */
export const WRAPPED = 'result';

function outputSchema(route: Route): Tool['outputSchema'] | undefined {
  if (route.streams) return undefined;
  const answer = answerSchema(route);
  const types = [answer.type].flat();
  const wrapped = { type: 'object', required: [WRAPPED], properties: { [WRAPPED]: answer } };
  return orOtherwise(
    ...(types.includes('object') ? [answer] : []),
    ...(types.some((type) => type !== 'object') ? [wrapped] : []),
  );
}

/** A field of another name is refused by models' APIs, with the request and every tool in it. */
const TAKEN_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

function inputSchema(route: Route): Tool['inputSchema'] {
  const schema = listedSchema(requestSchema(route));
  const fields = requestFields(route);
  if (fields.every(([name]) => TAKEN_NAME.test(name))) return schema;
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => TAKEN_NAME.test(name)),
  );
  const required = requiredFields(route).filter((name) => TAKEN_NAME.test(name));
  return { ...schema, properties, required, additionalProperties: true };
}

const payable = ({ routes, networks }: Pick<SoldTool, 'routes' | 'networks'>): Route[] =>
  payableRoutes(routes, networks.length > 0);

/** What a call costs on each rail: `0.05 USD, paid with x402 or mpp`. */
function pricesInWords(routes: readonly Route[]): string {
  const railsAt = new Map<string, string[]>();
  for (const route of routes) {
    const price = priceInWords(route);
    railsAt.set(price, [...(railsAt.get(price) ?? []), route.rail]);
  }
  return [...railsAt].map(([price, rails]) => `${price}, paid with ${rails.join(' or ')}`).join('; ');
}

/** The least and the most that a call costs, on whichever rail. */
function boundsOf(routes: readonly Route[]) {
  const prices = routes.flatMap(({ price }) => [price.min, price.max]).sort((left, right) => (left < right ? -1 : 1));
  return { minimum: toDecimal(prices[0] ?? 0n), maximum: toDecimal(prices.at(-1) ?? 0n) };
}

/** Longer ones are refused by models' APIs, or cut before the price that stands at their end. */
const LONGEST_DESCRIPTION = 1024;

/** What the tool says of itself, of no more than so many characters where they are given: the price stays whole. */
export function descriptionOf(tool: Omit<SoldTool, 'definition'>, most = Number.POSITIVE_INFINITY): string {
  const { summary, description } = tool.routes[0].endpoint;
  const price = `\n\nPrice of a call: ${pricesInWords(payable(tool))}.`;
  const words = summary === description ? `${summary}.` : description;
  if (words.length + price.length <= most) return words + price;
  return `${words.slice(0, most - price.length - 1).replace(/[\uD800-\uDBFF]$/, '')}…${price}`;
}

function definitionOf(tool: Omit<SoldTool, 'definition'>): Tool {
  const { name, routes, networks } = tool;
  const [route] = routes;
  const { summary, free, group } = route.endpoint;
  const output = outputSchema(route);
  return {
    name,
    title: summary,
    description: descriptionOf(tool, LONGEST_DESCRIPTION),
    inputSchema: inputSchema(route),
    ...(output && { outputSchema: output }),
    // It spends money and asks a provider: no client should run it without asking its user.
    annotations: { title: summary, readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    _meta: {
      'turnpike/price': {
        ...boundsOf(payable(tool)),
        listed: toDecimal(route.listing.price),
        currency: 'USD',
      },
      'turnpike/group': group,
      'turnpike/path': route.path,
      'turnpike/networks': networks,
      // Source: the client of the package `agents`, which tells its model so.
      'agents-x402/paymentRequired': !free,
      'agents-x402/priceUSD': Number(toDecimal(route.listing.price)),
    },
  };
}

export interface SoldTools {
  find(name: string): SoldTool | undefined;
  /** The tool that says of itself what is sold by a route. */
  nameOf(route: Route): string | undefined;
  /** What can be bought, in the catalogue's order: endpoints, each followed by its mirrors. */
  readonly all: readonly SoldTool[];
}

export function createSoldTools(routes: readonly Route[], networks: ReadonlyMap<NetworkId, Network>): SoldTools {
  const byName = new Map<string, SoldTool>();
  const taken = new Set(OWN_NAMES);
  const operations = routes.filter(({ kind }) => kind === 'operation');
  const others = (route: Route) =>
    route.kind === 'base' ? operations.filter(({ endpoint }) => endpoint === route.endpoint) : [];
  const heads = routes.filter(({ kind }) => kind !== 'operation');
  const headless = operations.filter(
    ({ endpoint }) => !heads.some((head) => head.kind === 'base' && head.endpoint === endpoint),
  );
  for (const route of [...heads, ...headless]) {
    const name = toolName(route.path, taken);
    taken.add(name);
    const paidOn = route.networks.filter((id) => networks.has(id));
    const tool = { name, routes: [route, ...others(route)], networks: paidOn } as const;
    let definition: Tool | undefined;
    byName.set(name, {
      ...tool,
      // Made when somebody asks for it: all of them are a twentieth of a gateway's start.
      get definition() {
        definition ??= definitionOf(tool);
        return definition;
      },
    });
  }
  const tools = [...byName.values()];
  const all = tools.filter((tool) => payable(tool).length > 0);
  const names = new Map(tools.map(({ name, routes: [route] }) => [route, name]));
  return { find: (name) => byName.get(name), nameOf: (route) => names.get(route), all };
}
