/** A value as JSON, in a box that scrolls. */
export function JsonShown({ value }: { readonly value: unknown }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with keys.
  return <pre tabIndex={0}>{JSON.stringify(value, null, 2)}</pre>;
}
