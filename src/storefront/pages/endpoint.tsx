/** One endpoint: what it does and costs, its request as a form, and every way to call it. */
import type { Route } from '../../catalogue/types.ts';
import { payableOn } from '../../discovery/payable.ts';
import { sandboxVariables } from '../../discovery/sandbox-variables.ts';
import { answerSchema, requestSchema } from '../../discovery/schemas.ts';
import { toDecimal } from '../../money.ts';
import { type Offer, pageOf } from '../offers.ts';
import { type PricedField, pricedFields } from '../price-points.ts';
import { dollarsOf, networkName } from '../shown.ts';
import { snippetsOf } from '../snippets/index.ts';
import { Example } from './example.tsx';
import { RequestForm } from './form.tsx';
import { Layout } from './layout.tsx';
import type { PageParts } from './parts.ts';
import { Fields } from './schema.tsx';

/** `0.05 USD`, or `0.06 to 0.15 USD` where the request decides. */
function priceOf({ price }: Route): string {
  const [least, most] = [price.min, price.max].map((amount) => dollarsOf(toDecimal(amount)));
  return price.fixed ? `${least} USD` : `${least} to ${most} USD`;
}

function Prices({ fields }: { fields: readonly PricedField[] }) {
  return (
    <>
      {fields.map(({ name, points }) => (
        <table key={name} class="prices">
          <caption>
            By <code>{name}</code>, the rest as in the example
          </caption>
          <thead>
            <tr>
              <th scope="col">{name}</th>
              <th scope="col">USD</th>
            </tr>
          </thead>
          <tbody>
            {points.map(({ value, price }) => (
              <tr key={value}>
                <td>{value}</td>
                <td>{dollarsOf(toDecimal(price))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </>
  );
}

interface WaysProps {
  readonly offer: Offer;
  readonly shown: Route;
  readonly parts: PageParts;
}

function Ways({ offer, shown, parts }: WaysProps) {
  const tool = parts.toolOf(shown);
  return (
    <table class="ways">
      <thead>
        <tr>
          <th scope="col">Protocol</th>
          <th scope="col">Address</th>
          <th scope="col">Price</th>
          <th scope="col">Paid on</th>
        </tr>
      </thead>
      <tbody>
        {[offer.base, ...offer.mirrors, ...offer.operations].map((route) => (
          <tr key={route.path}>
            <td>{route.rail === 'mpp' ? 'MPP' : route.rail}</td>
            <td>
              {route === shown || route.kind === 'operation' ? (
                <code>{route.path}</code>
              ) : (
                <a href={pageOf(route.path)}>
                  <code>{route.path}</code>
                </a>
              )}
            </td>
            <td>{priceOf(route)}</td>
            <td>
              {payableOn(route, parts)
                .map(({ network, binding }) => `${networkName(network.id)} (${binding.asset.symbol})`)
                .join(', ') || 'what its challenge names'}
            </td>
          </tr>
        ))}
        {tool !== undefined && (
          <tr>
            <td>MCP</td>
            <td>
              <code>{tool}</code>
            </td>
            <td>as over HTTP</td>
            <td>as over HTTP</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

const inSeconds = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

const inKilobytes = (bytes: number): string => `${Math.ceil(bytes / 1_000).toLocaleString('en')} kB`;

interface Props {
  readonly parts: PageParts;
  readonly offer: Offer;
  /** At which of its paths. */
  readonly route: Route;
  /** Why it is shown in place of an answer; undefined: it was asked for. */
  readonly because?: string | undefined;
}

export function EndpointPage({ parts, offer, route, because }: Props) {
  const { endpoint } = offer;
  const fields = pricedFields(route, parts.priceOf);
  return (
    <Layout parts={parts} title={endpoint.summary} description={endpoint.description} path={pageOf(route.path)}>
      {because !== undefined && (
        <p class="notice" role="note">
          {because}
        </p>
      )}
      <header class="title">
        <p class="crumbs">
          <a href="/">Endpoints</a> / <a href={`/?group=${encodeURIComponent(endpoint.group)}`}>{endpoint.group}</a>
        </p>
        <h1>{endpoint.summary}</h1>
        <p class="path">
          <code>{`${route.methods.join(' or ')} ${route.path}`}</code>
        </p>
        {endpoint.description !== endpoint.summary && <p class="lead">{endpoint.description}</p>}
      </header>
      <div class="columns">
        <div class="column">
          <section aria-labelledby="request-title" class="panel">
            <h2 id="request-title">Request</h2>
            <RequestForm route={route} />
          </section>
          <section aria-labelledby="terms-title" class="panel">
            <h2 id="terms-title">Terms</h2>
            <Prices fields={fields} />
            <dl class="limits">
              <dt>Takes at most</dt>
              <dd>{inSeconds(route.deadlineMs)}</dd>
              <dt>Largest request</dt>
              <dd>{inKilobytes(route.bodyLimitBytes)}</dd>
            </dl>
          </section>
        </div>
        <section aria-labelledby="price-title" class="panel side">
          <h2 id="price-title">Price</h2>
          <p class="amount">
            <output id="price" for="request">
              {priceOf(route)}
            </output>
          </p>
          <p class="hint" id="price-hint">
            {route.price.fixed ? 'One price, whatever is asked.' : 'Depends on the request.'} A call that fails is not
            charged.
          </p>
          {route.rail === 'x402' && <div id="purchase" data-streams={route.streams ? 'yes' : 'no'} />}
          <noscript>
            <p class="hint">Paying from this page needs JavaScript; the programs below do not need the page.</p>
          </noscript>
        </section>
      </div>
      <section aria-labelledby="result-title">
        <h2 id="result-title">An example of a result</h2>
        <Example value={route.resultExample} samples={parts.samples} />
        <details>
          <summary>Its fields</summary>
          <Fields schema={answerSchema(route)} />
        </details>
        <details>
          <summary>The request's fields</summary>
          <Fields schema={requestSchema(route)} />
        </details>
      </section>
      <section aria-labelledby="ways-title">
        <h2 id="ways-title">Ways to call it</h2>
        <Ways offer={offer} shown={route} parts={parts} />
      </section>
      <section aria-labelledby="snippets-title">
        <h2 id="snippets-title">From a program</h2>
        {parts.mode === 'sandbox' && (
          <>
            <p class="hint">
              In this sandbox the keys are at /sandbox. This sets the variables that the programs read:
            </p>
            <pre>
              <code>{sandboxVariables(parts.publicUrl)}</code>
            </pre>
          </>
        )}
        {snippetsOf(route, offer, parts).map(({ id, title, note, language, text }, index) => (
          <details key={id} class="snippet" open={index === 0} data-snippet={id}>
            <summary>{title}</summary>
            <p class="hint">{note}</p>
            <pre>
              <code class={`language-${language}`}>{text}</code>
            </pre>
          </details>
        ))}
      </section>
    </Layout>
  );
}
