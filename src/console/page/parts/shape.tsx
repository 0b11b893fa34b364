/** A small drawing beside a word, so that no state is told by its colour alone. Nothing for a screen reader: the word is there. */
const PATHS = {
  check: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM4.8 8.2l2.3 2.3 4.2-4.6',
  half: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.5V8l2.4 1.6',
  ring: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z',
  warning: 'M8 1.8 15 14H1L8 1.8ZM8 6.2v3.6M8 11.9v.1',
  question: 'M8 .9 15.1 8 8 15.1.9 8 8 .9ZM6.3 6.6a1.8 1.8 0 1 1 2.4 1.7c-.5.2-.7.5-.7 1M8 11.3v.1',
  cross: 'M2.5 2.5h11v11h-11ZM5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6',
  back: 'M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H6.5',
} as const;

export type ShapeName = keyof typeof PATHS;

export function Shape({ name }: { name: ShapeName }) {
  return (
    <svg class="shape" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
