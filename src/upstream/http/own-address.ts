/** The path and query of a whole address as they stand below an upstream's own; undefined where it is at another host. */
export function pathBelow(address: string, baseUrl: string): string | undefined {
  const { origin, pathname } = new URL(baseUrl);
  if (!URL.canParse(address) || new URL(address).origin !== origin) return undefined;
  const path = address.replace(/^[^/]+\/\/[^/?#]*/, '');
  const base = pathname.replace(/\/$/, '');
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}
