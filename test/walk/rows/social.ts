/** Section 4.5: social intelligence. */
import { persona, socialNews } from '../results.ts';
import { type MirrorOf, type Row, required, textBut } from '../row.ts';

const onChainC: MirrorOf = { network: 'chain-c', prefix: 'chain-c-main' };
const username = textBut(['lighthouse', '@lighthouse'], ['not a name']);

export const socialRows: readonly Row[] = [
  {
    path: '/ai/x-news',
    price: '0.5',
    fields: { x_username: required(username), x_persona: username },
    result: socialNews,
    mirrors: [onChainC],
  },
  {
    path: '/ai/x-persona',
    price: '0.05',
    fields: { x_username: required(username) },
    result: persona,
    mirrors: [onChainC],
  },
];
