/** tokens.xyz has its own words for some things; these are translated in both directions. */
import type { Input } from '../../../catalogue/types.ts';

const PROVIDER_CHAIN = 'solana';
const MINT = '[1-9A-HJ-NP-Za-km-z]{32,44}';

/** Fields that hold an asset's id, which for a single token is made of the chain and its address. */
const idFields: ReadonlySet<string> = new Set(['assetId', 'ref', 'canonicalAssetId']);

/** The provider's package says `safe` and `risk` where its documentation and ours say `success` and `danger`. */
const tones: Readonly<Record<string, string>> = { safe: 'success', risk: 'danger' };

/** A request in the provider's words: `chain-a-<mint>` becomes `solana-<mint>`, `experimental` becomes `tier3`. */
export function toProvider(input: Input, chain: string): Input {
  const single = new RegExp(`^${escaped(chain)}-(${MINT})$`);
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) => {
      if (typeof value !== 'string') return [field, value];
      if (idFields.has(field)) return [field, value.replace(single, `${PROVIDER_CHAIN}-$1`)];
      if (field === 'trustTier' && value === 'experimental') return [field, 'tier3'];
      return [field, value];
    }),
  );
}

/** Fields that hold a variant, or variants. Its chain goes without saying at the provider, which has one. */
const variantFields: ReadonlySet<string> = new Set(['variant', 'primaryVariant', 'variants']);

/** An answer in this service's words. `stats` also gets `volume` and `priceChange`, the names of the specification. */
export function toNeutral(answer: unknown, chain: string): unknown {
  const single = new RegExp(`^${PROVIDER_CHAIN}-(${MINT})$`);
  const walk = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => walk(item, field));
    if (typeof value === 'string') return neutralText(value, field, chain, single);
    if (typeof value !== 'object' || value === null) return value;
    const record = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, key)]));
    if (variantFields.has(field) && record.mint !== undefined) return { chain, ...record };
    return field === 'stats' ? withShortNames(record) : record;
  };
  return walk(answer, '');
}

function neutralText(text: string, field: string, chain: string, single: RegExp): string {
  if (idFields.has(field)) return text.replace(single, `${chain}-$1`);
  if (field === 'chain' && text === PROVIDER_CHAIN) return chain;
  if (field === 'trustTier' && text === 'tier3') return 'experimental';
  if (field === 'tone') return tones[text] ?? text;
  return text;
}

function withShortNames(stats: Record<string, unknown>): Record<string, unknown> {
  const { volume24hUSD: volume = null, priceChange24hPercent: priceChange = null } = stats;
  return { volume, priceChange, ...stats };
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
