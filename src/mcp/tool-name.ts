import { createHash } from 'node:crypto';

/** Longer ones are refused by models' APIs, and so is every other character. */
const LONGEST = 64;
const HASHED = 8;

/** Of tools that help to buy: nothing that is sold has one of them. */
export const OWN_NAMES = ['search_endpoints', 'describe_endpoint', 'call_endpoint', 'quote', 'purchases'];

/** The name of what is sold at a path: `/image/family-e-2` is `image_family-e-2`. `taken`: names that others have. */
export function toolName(path: string, taken: { has(name: string): boolean }): string {
  const name = path.replace(/^\//, '').replace(/[^A-Za-z0-9_-]/g, '_');
  if (name.length <= LONGEST && !taken.has(name)) return name;
  const hash = createHash('sha256').update(path).digest('hex').slice(0, HASHED);
  return `${name.slice(0, LONGEST - HASHED - 1)}_${hash}`;
}
