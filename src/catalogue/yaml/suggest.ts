/** Longer lists are cut to the names that are nearest. */
const LISTED = 12;
const NEAREST = 3;

/** The number of letters to insert, delete, replace or swap to make `right` out of `left`. */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}

/** The name that `name` was probably meant to be, or undefined when nothing is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean amount? There are: rule, amount`; of a long list the nearest three. `known` may be empty. */
export function choices(name: string, known: Iterable<string>): string {
  const all = [...known];
  if (all.length === 0) return 'there are none';
  const near = nearest(name, all);
  const isLong = all.length > LISTED;
  const start = isLong ? `he nearest of ${all.length}: ` : 'here are: ';
  const list = start + (isLong ? nearestFirst(name, all).slice(0, NEAREST) : all).join(', ');
  return near === undefined ? `t${list}` : `did you mean ${near}? T${list}`;
}

function nearestFirst(name: string, known: readonly string[]): string[] {
  const distances = new Map(known.map((one) => [one, editDistance(name.toLowerCase(), one.toLowerCase())]));
  return [...known].sort((left, right) => (distances.get(left) ?? 0) - (distances.get(right) ?? 0));
}
