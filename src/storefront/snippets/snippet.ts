/** A way to call an endpoint from a program, to be copied as it stands. */
export interface Snippet {
  readonly id: string;
  readonly title: string;
  /** What is needed, and what it does, in one sentence. */
  readonly note: string;
  readonly language: 'sh' | 'js' | 'python' | 'json';
  readonly text: string;
}
