/** `GET catalogue` and `POST catalogue/reload`: what is sold, what sells, and what the files say that is not sold yet. */

import { priceRange } from '../catalogue/endpoints/price-range.ts';
import { servedBy } from '../catalogue/served-by.ts';
import type { Catalogue, Endpoint } from '../catalogue/types.ts';
import { CatalogueErrors, formatDiagnostic } from '../catalogue/yaml/diagnostic.ts';
import { compareCatalogues } from '../catalogue-diff/compare.ts';
import { asText } from '../catalogue-diff/text.ts';
import { SPANS } from '../store/figures/figures-store.ts';
import type { CataloguePage, EndpointRow, ReloadForm } from './figures.ts';
import { form, text } from './input.ts';
import { Ledger, totalsOf } from './ledger.ts';
import { namesIn } from './names.ts';
import type { ConsoleParts } from './parts.ts';
import { ConsoleProblem } from './problem.ts';

const PERIOD_DAYS = 30;

type Pending = NonNullable<CataloguePage['pending']>;

function pendingOf(parts: ConsoleParts, sold: Catalogue): Pending | undefined {
  try {
    const next = parts.pending();
    if (!next) return undefined;
    const lines = asText(compareCatalogues(sold, next)).split('\n');
    return { version: next.version, changes: lines.filter((line) => line !== ''), problems: [] };
  } catch (error) {
    if (!(error instanceof CatalogueErrors)) throw error;
    return { changes: [], problems: error.diagnostics.map(formatDiagnostic) };
  }
}

export async function catalogue(parts: ConsoleParts): Promise<CataloguePage> {
  const sold = parts.catalogue();
  const names = namesIn(sold, parts.mode);
  const to = Math.ceil(parts.store.now() / SPANS.day) * SPANS.day;
  const period = { span: 'day', from: to - PERIOD_DAYS * SPANS.day, to } as const;
  await parts.flush();
  const { figures } = parts.store;
  const [money, calls] = await Promise.all([figures.money(period), figures.calls(period)]);
  const ledger = new Ledger<string>(names);
  for (const sum of money.sums) ledger.addMoney(names.endpointOf(sum.route), sum);
  for (const count of calls) ledger.addCalls(count.endpoint, count);
  const soldIds = new Set(parts.sold().map(({ endpoint }) => endpoint.id));
  const pending = pendingOf(parts, sold);

  function rowOf({ id, summary, routes }: Endpoint): EndpointRow {
    const [base] = routes;
    const { calls: called, revenue, cost, margin } = totalsOf(ledger.of(id));
    return {
      name: id,
      title: summary,
      path: base?.path ?? '',
      price: base ? `${priceRange(base.price)} USD` : '',
      networks: [...new Set(routes.flatMap(({ networks }) => networks))],
      upstream: base ? servedBy(base) : '',
      calls: called,
      revenue,
      cost,
      margin,
      isSold: soldIds.has(id),
    };
  }

  return { version: sold.version, endpoints: sold.endpoints.map(rowOf), ...(pending && { pending }) };
}

export async function reload(parts: ConsoleParts, body: unknown): Promise<CataloguePage> {
  const seen = text(form<ReloadForm>(body ?? {}, ['version']), 'version');
  try {
    if (seen !== undefined && seen !== (parts.pending() ?? parts.catalogue()).version) {
      throw new ConsoleProblem(
        409,
        'the files have changed since they were shown, and nothing is loaded: look at what they say now',
      );
    }
    await parts.reload();
  } catch (error) {
    if (!parts.isRefusal(error)) throw error;
    throw new ConsoleProblem(409, `${error.message}; what was sold before is sold on`);
  }
  return catalogue(parts);
}
