/** Walks over rows: holds each route of a running gateway to what its row says. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t, { type Test } from 'tap';
import { usd } from '../../src/money.ts';
import { payV1, payV2, sendProof, signProof } from '../clients.ts';
import { type Gateway, startGateway } from '../gateway.ts';
import {
  changed,
  type Fields,
  type Mirror,
  mirrorsOf,
  type PaidChoice,
  plainRequest,
  pricesOf,
  type Row,
} from './row.ts';
import { ask, callOf, type Listing, listings, networkNames, type Unpaid } from './wire.ts';

const ALL_NETWORKS = ['chain-a', 'chain-c', 'chain-d', 'chain-e', 'chain-f', 'polygon', 'arbitrum', 'avalanche'];

/** A route as the walk sees it: a base route or a mirror. */
interface Stop extends Omit<Mirror, 'network'> {
  readonly method: string;
  readonly listed: Row['listed'];
  /** The only network of a mirror. */
  readonly network: string | undefined;
  readonly furtherNetworks: number | undefined;
  readonly more: readonly PaidChoice[];
}

interface Client {
  readonly name: string;
  readonly network: string;
  readonly pay: typeof payV2;
}

const CLIENTS: readonly Client[] = [
  { name: 'a version 2 client on chain-c', network: 'chain-c', pay: payV2 },
  { name: 'a version 2 client on chain-a', network: 'chain-a', pay: payV2 },
  { name: 'a version 1 client on chain-c', network: 'chain-c', pay: payV1 },
  { name: 'a version 1 client on chain-a', network: 'chain-a', pay: payV1 },
];

interface Setting {
  readonly gateway: Gateway;
  readonly listed: ReadonlyMap<string, Listing>;
  readonly ajv: Ajv2020;
}

const stopsOf = (row: Row): Stop[] => [
  {
    path: row.path,
    method: row.method ?? 'POST',
    prices: pricesOf(row.price),
    listed: row.listed,
    fields: row.fields,
    rules: row.rules ?? {},
    result: row.result,
    network: undefined,
    furtherNetworks: row.furtherNetworks,
    more: row.more ?? [],
  },
  ...mirrorsOf(row).map((mirror) => ({
    ...mirror,
    method: row.method ?? 'POST',
    listed: row.listed,
    furtherNetworks: 0,
    more: [],
  })),
];

/** Whether the 402 tells that it is this field that is wrong. */
const blames = ({ invalidParams }: Unpaid, field: string): boolean =>
  invalidParams.some(({ path, message }) => path.startsWith(`/${field}`) || message.includes(field));

const faultsOf = ({ invalidParams }: Unpaid): string => JSON.stringify(invalidParams).slice(0, 200);
const short = (value: unknown): string => JSON.stringify(value)?.slice(0, 60) ?? 'left out';

async function checkPrices(t: Test, stop: Stop, { gateway }: Setting): Promise<void> {
  const names = networkNames(gateway);
  for (const { request, price } of stop.prices) {
    const unpaid = await ask(callOf(gateway, stop.method, stop.path, changed(plainRequest(stop.fields), request)));
    t.equal(unpaid.status, 402);
    t.same(unpaid.invalidParams, [], `takes ${short(request)}`);
    t.same(
      [...new Set(unpaid.offers.map(({ amount }) => amount))],
      [String(usd(price))],
      `${price} for ${short(request)}`,
    );
    const networks = unpaid.offers.map(({ network }) => names.get(network) ?? network);
    // What settles before the work is offered last.
    const after = unpaid.offers.findIndex(({ extra }) => extra?.paymentFlow === 'upfront');
    const isLast = after >= 0 && unpaid.offers.slice(after).every(({ extra }) => extra?.paymentFlow === 'upfront');
    t.ok(after < 0 || isLast, 'offers first what settles after the result');
    if (stop.network === undefined) {
      const byDefault = networks[Math.max(after, 0)];
      t.equal(byDefault, 'chain-a', 'is settled on chain-a by default');
    } else t.same(networks, [stop.network], 'a mirror is paid on its own network');
    if (stop.furtherNetworks !== undefined) t.equal(networks.length - 1, stop.furtherNetworks, 'further networks');
  }
}

/** A 402 of section 2.1. */
async function checkChallenge(t: Test, stop: Stop, { gateway, listed }: Setting): Promise<void> {
  const { type, problem, offers, status } = await ask({ url: gateway.url + stop.path, init: { method: stop.method } });
  t.equal(status, 402, 'a call without a body is asked to pay');
  t.match(type, /^application\/problem\+json/);
  for (const [name, kind] of Object.entries({
    type: 'string',
    title: 'string',
    detail: 'string',
    challengeId: 'string',
  })) {
    t.type(problem[name], kind, name);
  }
  t.equal(problem.status, 402);
  const listing = listed.get(stop.path);
  const amount = listing && String(usd(listing.pricing.amount));
  for (const offer of offers) t.equal(offer.amount, amount, 'a call without a body is asked for the listed price');
}

async function checkListing(t: Test, stop: Stop, { listed }: Setting): Promise<void> {
  const listing = listed.get(stop.path);
  if (!listing) {
    t.fail('is not listed in /x402-resources');
    return;
  }
  t.equal(listing.method, stop.method);
  t.equal(listing.x402_version, 'v2');
  t.ok(listing.description.length > 0, 'has a description');
  t.equal(listing.price, Number(listing.pricing.amount));
  const properties = listing.input_schema.properties ?? {};
  for (const [name, field] of Object.entries(stop.fields)) {
    t.ok(name in properties, `lists ${name}`);
    if (field.default !== undefined) t.same(properties[name]?.default, field.default, `default of ${name}`);
  }
  const prices = stop.prices.map(({ price }) => Number(price));
  if (new Set(prices).size === 1) {
    t.equal(listing.minPrice, undefined, 'one price has no minPrice');
    return;
  }
  t.type(listing.minPrice, 'number', 'a dynamic price has a minPrice');
  if (stop.listed) {
    t.equal(listing.minPrice, stop.listed.minPrice, 'minPrice');
    if (stop.listed.price !== undefined) t.equal(listing.price, stop.listed.price, 'price');
  }
}

async function checkFields(t: Test, stop: Stop, { gateway }: Setting): Promise<void> {
  const plain = plainRequest(stop.fields);
  const send = (change: Fields) => ask(callOf(gateway, stop.method, stop.path, changed(plain, change)));
  for (const [name, field] of Object.entries(stop.fields)) {
    for (const value of field.accepts) {
      const unpaid = await send({ [name]: value });
      t.same(unpaid.invalidParams, [], `${name} may be ${short(value)}`);
    }
    // A query has no types: 7 is a text there.
    const refuses = field.refuses.filter((value) => stop.method !== 'GET' || typeof value === 'string');
    for (const value of refuses) {
      const unpaid = await send({ [name]: value });
      t.equal(unpaid.status, 402);
      t.ok(blames(unpaid, name), `${name} may not be ${short(value)}: ${faultsOf(unpaid)}`);
    }
    const without = await send({ [name]: undefined });
    if (field.required) t.ok(blames(without, name), `${name} is required: ${faultsOf(without)}`);
    else t.same(without.invalidParams, [], `${name} may be left out`);
  }
  for (const change of stop.rules.accepts ?? [])
    t.same((await send(change)).invalidParams, [], `takes ${short(change)}`);
  for (const change of stop.rules.refuses ?? [])
    t.not((await send(change)).invalidParams.length, 0, `refuses ${short(change)}`);
  t.ok(blames(await send({ no_such_field: 'x' }), 'no_such_field'), 'refuses a field that it does not have');
}

const onNetwork = (network: string): Client => ({ name: `a version 2 client on ${network}`, network, pay: payV2 });

/** Clients take turns where a route is paid on several networks. */
async function clientFor(stop: Stop, request: Fields, { gateway }: Setting, turn: number): Promise<Client> {
  const { offers } = await ask(callOf(gateway, stop.method, stop.path, request));
  const names = networkNames(gateway);
  const payable = offers.map(({ network }) => names.get(network));
  const possible = CLIENTS.filter(({ network }) => payable.includes(network));
  return possible[turn % possible.length] ?? onNetwork(stop.network ?? 'chain-a');
}

/**
 * By Solana's clock a slot passes with each purchase, however long that takes: a payment there is good for a minute alone,
 * and what clients of version 1 sign twice in a slot is the same.
 */
let solanaTime = Date.now();
const SLOT_MS = 400;

async function checkPaid(
  t: Test,
  stop: Stop,
  client: Client,
  choice: Required<Omit<PaidChoice, 'on'>>,
  { gateway, listed, ajv }: Setting,
): Promise<void> {
  const call = callOf(gateway, stop.method, stop.path, changed(plainRequest(stop.fields), choice.request));
  const [earned, spendable] = [await gateway.earned(client.network), await gateway.spendable(client.network)];
  solanaTime += SLOT_MS;
  const answer = await client.pay(gateway, client.network, call);
  const body = await answer.text();
  t.equal(answer.status, 200, `${client.name} pays for ${short(choice.request)}: ${body.slice(0, 300)}`);
  const price = usd(choice.price);
  t.equal((await gateway.earned(client.network)) - earned, price, 'exactly the price is earned');
  t.equal(spendable - (await gateway.spendable(client.network)), price, 'exactly the price is spent');
  if (answer.status !== 200) return;
  const result = JSON.parse(body);
  t.same(choice.result(result, ''), [], 'the result has every documented field');
  const listing = listed.get(stop.path);
  const validate = listing && ajv.compile(listing.output_schema);
  t.ok(validate?.(result), `the result fits its listed schema: ${ajv.errorsText(validate?.errors)}`);
}

async function checkAllPaid(t: Test, stop: Stop, setting: Setting, turn: number): Promise<void> {
  const [first] = stop.prices;
  if (!first) throw new Error(`the row of ${stop.path} has no price`);
  const request = changed(plainRequest(stop.fields), first.request);
  await checkPaid(t, stop, await clientFor(stop, request, setting, turn), { ...first, result: stop.result }, setting);
  for (const { on = 'chain-a', ...choice } of stop.more) {
    await checkPaid(t, stop, onNetwork(on), { price: first.price, ...choice }, setting);
  }
}

async function checkPaidMistake(t: Test, stop: Stop, { gateway }: Setting): Promise<void> {
  const network = stop.network ?? 'chain-a';
  const call = callOf(gateway, stop.method, stop.path, changed(plainRequest(stop.fields), { no_such_field: 'x' }));
  const proof = await signProof(gateway, network, call);
  const [earned, calls] = [await gateway.earned(network), await gateway.calls()];
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 400);
  t.match(await answer.json(), { error: { code: 'invalid_request', message: /./, requestId: /./ } });
  t.equal(await gateway.earned(network), earned, 'nothing is charged');
  t.same(await gateway.calls(), calls, 'no provider is asked');
}

/** One gateway with all its networks, stopped when the tests of the file are done. */
export async function openWalk(): Promise<Gateway> {
  const gateway = await startGateway({ networks: ALL_NETWORKS, solanaNow: () => solanaTime });
  t.teardown(gateway.stop);
  return gateway;
}

export async function walk(gateway: Gateway, rows: readonly Row[]): Promise<void> {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  addFormats.default(ajv);
  const setting = { gateway, listed: await listings(gateway), ajv };
  const stops = rows.flatMap(stopsOf);
  for (const [turn, stop] of stops.entries()) {
    const { path, method, prices } = stop;
    t.test(`${method} ${path} is sold as the specification says, from ${prices[0]?.price}`, async (t) => {
      await checkListing(t, stop, setting);
      await checkChallenge(t, stop, setting);
      await checkPrices(t, stop, setting);
      await checkFields(t, stop, setting);
      await checkAllPaid(t, stop, setting, turn);
      if (turn % 6 === 0) await checkPaidMistake(t, stop, setting);
    });
  }
}
