/** The groups of section 1, whose counts the specification gives. */
import type { Row } from '../row.ts';
import { commerceRows, predictionRows } from './commerce.ts';
import { imageModelRows, imageRows } from './images.ts';
import { audioRows, videoRows } from './media.ts';
import { socialRows } from './social.ts';
import { multiModelRows, tieredRows, usageRows, verifiedRows } from './text.ts';
import { tokenRows } from './tokens.ts';
import { tokensApiRows } from './tokens-api.ts';

/** Section 4 lists 15 image paths where section 1 counts 13: the two of `/image-model/` count as AI and social. */
export const groups: readonly { readonly name: string; readonly count: number; readonly rows: readonly Row[] }[] = [
  { name: 'tokens API', count: 17, rows: tokensApiRows },
  { name: 'video', count: 4, rows: videoRows },
  {
    name: 'AI and social',
    count: 16,
    rows: [...tieredRows, ...usageRows, ...multiModelRows, ...verifiedRows, ...socialRows, ...imageModelRows],
  },
  { name: 'image', count: 13, rows: imageRows },
  { name: 'token intelligence', count: 12, rows: tokenRows },
  { name: 'commerce', count: 4, rows: commerceRows },
  { name: 'prediction markets', count: 3, rows: predictionRows('a-market') },
  { name: 'audio', count: 3, rows: audioRows },
];

export const allRows: readonly Row[] = groups.flatMap(({ rows }) => rows);
