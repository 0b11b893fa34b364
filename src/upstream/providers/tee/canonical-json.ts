/**
 * JSON in one form only, so that it can be hashed and signed: no white space, keys in the order of their UTF-16 code
 * units. Source: RFC 8785 (JCS); ECMAScript's own numbers and strings are already in its form.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
