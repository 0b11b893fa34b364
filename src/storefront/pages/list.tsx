/** The front page: everything that is sold, to be searched. */
import type { Route } from '../../catalogue/types.ts';
import { payableRoutes } from '../../discovery/payable.ts';
import { toDecimal } from '../../money.ts';
import { networksOf, type Offer, offersOf, pageOf } from '../offers.ts';
import { dollarsOf, networkName } from '../shown.ts';
import { Layout } from './layout.tsx';
import type { PageParts } from './parts.ts';

/** An endpoint, and by what it is found. */
interface Listed {
  readonly offer: Offer;
  /** The first way by which it can be paid, whose price is shown. */
  readonly route: Route;
  readonly networks: readonly string[];
  readonly doors: readonly string[];
}

const DOOR_NAMES: Readonly<Record<string, string>> = { x402: 'x402', mpp: 'MPP', mcp: 'MCP' };

const doorName = (door: string): string => DOOR_NAMES[door] ?? door;

const PRICES = ['0.01', '0.05', '0.10', '0.50', '1'] as const;

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly all: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
}

function Choice({ name, label, all, choices }: ChoiceProps) {
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <select id={`filter-${name}`} name={name}>
        <option value="">{all}</option>
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface FormProps {
  readonly groups: readonly string[];
  readonly doors: readonly string[];
  readonly networks: readonly (readonly [id: string, name: string])[];
}

function FilterForm({ groups, doors, networks }: FormProps) {
  return (
    <search>
      <form class="filters with-script" id="filters" method="get" action="/">
        <div class="field wide">
          <label for="filter-q">Search</label>
          <input id="filter-q" name="q" type="search" placeholder="image, tokens, music…" autocomplete="off" />
        </div>
        <Choice name="group" label="Group" all="all groups" choices={groups.map((each) => [each, each])} />
        <Choice name="network" label="Paid on" all="any network" choices={networks} />
        <Choice name="door" label="Paid by" all="any protocol" choices={doors.map((each) => [each, doorName(each)])} />
        <Choice name="max" label="Price" all="any price" choices={PRICES.map((each) => [each, `up to ${each} USD`])} />
      </form>
    </search>
  );
}

/** Undefined where nobody can pay for it here: it is found no more than in the documents. */
function listedAs(offer: Offer, parts: PageParts): Listed | undefined {
  const { base, operations } = offer;
  const networks = networksOf(offer, parts).map(({ network }) => network.id);
  const ways = payableRoutes([base, ...operations], networks.length > 0);
  const [route] = ways;
  const mcp = parts.toolOf(base) === undefined ? [] : ['mcp'];
  return route && { offer, route, networks, doors: [...distinct(ways.map(({ rail }) => rail)), ...mcp] };
}

function Card({ offer, route, networks, doors }: Listed) {
  const { base, endpoint } = offer;
  const text = [endpoint.id, base.path, endpoint.summary, endpoint.description].join(' ').toLowerCase();
  return (
    <li
      class="card"
      data-text={text}
      data-group={endpoint.group}
      data-networks={networks.join(' ')}
      data-doors={doors.join(' ')}
      data-price={toDecimal(route.price.min)}
    >
      <h3>
        <a href={pageOf(base.path)}>{endpoint.summary}</a>
      </h3>
      <p class="path">
        <code>{base.path}</code>
      </p>
      <p class="facts">
        <span class="price">{priceOnCard(route)}</span>
        <span class="quiet">{[doors.map(doorName).join(', '), countOf(networks)].filter(Boolean).join(' · ')}</span>
      </p>
    </li>
  );
}

const countOf = ({ length }: readonly string[]): string =>
  length === 0 ? '' : length === 1 ? '1 network' : `${length} networks`;

const priceOnCard = ({ price }: Route): string => `${price.fixed ? '' : 'from '}${dollarsOf(toDecimal(price.min))} USD`;

export function ListPage({ parts }: { parts: PageParts }) {
  const { service, routes, publicUrl } = parts;
  const listed = offersOf(routes).flatMap((offer) => listedAs(offer, parts) ?? []);
  const paidOn = listed.flatMap(({ offer }) => networksOf(offer, parts));
  const networks = new Map(
    paidOn.map(({ network, binding }) => [network.id, `${networkName(network.id)} (${binding.asset.symbol})`]),
  );
  const groups = distinct(listed.map(({ offer }) => offer.endpoint.group));
  return (
    <Layout parts={parts} title={service.name} description={service.description} path="/">
      <section class="hero">
        <h1>{service.name}</h1>
        <p class="lead">{service.description}</p>
        <ul class="doors">
          <li>
            Agents start at <a href="/llms.txt">{`${publicUrl}/llms.txt`}</a>
          </li>
          {listed.some(({ doors }) => doors.includes('mcp')) && (
            <li>
              MCP clients connect to <code>{`${publicUrl}/mcp`}</code>
            </li>
          )}
        </ul>
      </section>
      <FilterForm groups={groups} doors={distinct(listed.flatMap(({ doors }) => doors))} networks={[...networks]} />
      <p id="count" role="status" class="quiet">
        {`${listed.length} endpoints`}
      </p>
      {groups.map((group) => (
        <section key={group} class="group" aria-labelledby={`group-${group}`}>
          <h2 id={`group-${group}`}>{group}</h2>
          <ul class="cards">
            {listed
              .filter(({ offer }) => offer.endpoint.group === group)
              .map((each) => (
                <Card key={each.offer.endpoint.id} {...each} />
              ))}
          </ul>
        </section>
      ))}
      <p id="nothing" hidden>
        Nothing that is sold here fits. <a href="/">Show everything</a>
      </p>
    </Layout>
  );
}
