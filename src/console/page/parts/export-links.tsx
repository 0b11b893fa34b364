import { urlOf } from '../api.ts';

interface Props {
  readonly bounds: { readonly from: number; readonly to: number };
  readonly words: string;
}

/** The books of a period, a row for each movement of money, as `npm run export` writes them. */
export function ExportLinks({ bounds, words }: Props) {
  return (
    <p class="quiet">
      The books, {words}:{' '}
      <a href={urlOf('export', { ...bounds, format: 'csv' })} download>
        CSV
      </a>
      {' or '}
      <a href={urlOf('export', { ...bounds, format: 'jsonl' })} download>
        JSON lines
      </a>
    </p>
  );
}
