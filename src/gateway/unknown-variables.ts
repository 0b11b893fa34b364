/** Variables that are called like the gateway's own and are not: a setting that nothing reads would go unnoticed. */
import { nearest } from '../catalogue/yaml/suggest.ts';
import type { Variables } from '../environment.ts';

const OWN = 'TURNPIKE_';

/** What Kubernetes sets in every container beside a service whose name begins with `turnpike`. */
const isInjected = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) || /^(tcp|udp|sctp):\/\//.test(value);

/** What some editors begin a file with; who reads it may take it for a part of the first name. */
const BYTE_ORDER_MARK = '\uFEFF';

/** A line for each. `prefixes`: how names begin that have parts of their own, such as a network's. */
export function unknownIn(environment: Variables, known: ReadonlySet<string>, prefixes: readonly string[]): string[] {
  const unknown = Object.entries(environment).flatMap(([name, value = '']) =>
    name.startsWith(OWN) &&
    !known.has(name) &&
    !prefixes.some((prefix) => name.startsWith(prefix)) &&
    !isInjected(name, value)
      ? [name]
      : [],
  );
  // What all begin with says nothing of what was meant.
  const endings = [...known].flatMap((name) => (name.startsWith(OWN) ? [name.slice(OWN.length)] : []));
  const marked = Object.keys(environment).filter((name) => name.startsWith(BYTE_ORDER_MARK));
  const unread = marked.map(
    (name) =>
      `${name.slice(1)} is not read, for a byte order mark is before it: save the file that sets it as UTF-8 without one`,
  );
  const misnamed = unknown.map((name) => {
    const meant = nearest(name.slice(OWN.length), endings);
    const advice = meant === undefined ? 'src/README.md lists them all' : `did you mean ${OWN}${meant}?`;
    return `${name} is no setting of the gateway: ${advice}`;
  });
  return [...unread, ...misnamed];
}
