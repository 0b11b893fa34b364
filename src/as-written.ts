/** Numbers that are not read as they are written: whole ones of more digits than are kept, and those beyond all numbers. */

const LONG_NUMBERS = /[0-9]{16,}/g;

/** Whole numbers that are not read as they are written, without their signs and as they are read. */
function roundedIn(written: string): ReadonlySet<number> {
  const rounded = (written.match(LONG_NUMBERS) ?? []).filter((digits) => String(Number(digits)) !== digits).map(Number);
  return new Set(rounded.filter((read) => read > Number.MAX_SAFE_INTEGER));
}

export interface Misread {
  /** Where it stands; empty: it is the value itself. */
  readonly path: string;
  readonly message: string;
}

function find(value: unknown, isRounded: (read: number) => boolean, path: string): Misread | undefined {
  if (typeof value === 'number') {
    // JSON has no word for it: it would be sent on as null, and no price can be made of it.
    if (!Number.isFinite(value)) return { path, message: 'is larger than numbers can be' };
    if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || !isRounded(Math.abs(value))) return undefined;
    return { path, message: `has more digits than a number keeps, and would be read as ${value}` };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = find(inner, isRounded, `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first number that is not read as it is `written`, a text with all of them; undefined where each is. */
export function misreadIn(value: unknown, written: () => string): Misread | undefined {
  let rounded: ReadonlySet<number> | undefined;
  const isRounded = (read: number): boolean => {
    rounded ??= roundedIn(written());
    return rounded.has(read);
  };
  return find(value, isRounded, '');
}
