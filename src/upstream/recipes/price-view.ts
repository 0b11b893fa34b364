/** A model's view of a price over the next seven days, tied to the real price. */
import type { JsonSchema } from '../../catalogue/types.ts';
import type { CallContext } from '../adapter.ts';
import type { ChatBinding } from '../providers/openai/chat.ts';
import { structured } from '../providers/openai/structured.ts';

interface PriceView {
  /** -1 to 1. */
  sentiment_score: number;
  /** Percent. */
  expected_change_7d_pct: number;
  signals: string[];
  risk_level: 'low' | 'medium' | 'high';
  summary: string;
  catalyst: string;
}

const text = { type: 'string', minLength: 1 } as const;

const priceViewSchema = (most: number): JsonSchema => ({
  type: 'object',
  required: ['sentiment_score', 'expected_change_7d_pct', 'signals', 'risk_level', 'summary', 'catalyst'],
  additionalProperties: false,
  properties: {
    sentiment_score: { type: 'number', minimum: -1, maximum: 1 },
    expected_change_7d_pct: { type: 'number', minimum: -most, maximum: most },
    signals: { type: 'array', minItems: 3, maxItems: 3, items: text },
    risk_level: { type: 'string', enum: ['low', 'medium', 'high'] },
    summary: text,
    catalyst: text,
  },
});

/** `mostChange` is the largest change in percent, up or down, that the view may expect. Throws UpstreamProblem. */
export const askForView = (
  words: ChatBinding,
  { name, instructions, mostChange }: { name: string; instructions: string; mostChange: number },
  known: object,
  context: CallContext,
): Promise<PriceView> =>
  structured<PriceView>(
    words,
    {
      name,
      schema: priceViewSchema(mostChange),
      messages: [
        { role: 'system', content: instructions },
        { role: 'user', content: JSON.stringify(known) },
      ],
    },
    context,
  );

/** From where on a score takes a side. */
const CLEAR = 0.15;

export const sentimentLabel = (score: number): 'bullish' | 'bearish' | 'neutral' =>
  score > CLEAR ? 'bullish' : score < -CLEAR ? 'bearish' : 'neutral';

/** To six significant digits: tokens cost fractions of a cent. */
export const targetPrice = (price: number, changePercent: number): number =>
  Number((price * (1 + changePercent / 100)).toPrecision(6));
