/** Colours that a service's pages can be read in. */
import type { Checker } from '../checker.ts';
import type { BrandFile } from '../types.ts';
import { below, type SourceLocation } from '../yaml/yaml-document.ts';

/** WCAG 2.2, 1.4.3: text against what is behind it. */
const LEAST_CONTRAST = 4.5;

/** Behind links, and the text on buttons, in the pages' own styles. */
const GROUNDS = {
  accent: { name: 'light', colour: '#fbfaf7' },
  accentOnDark: { name: 'dark', colour: '#1a1e26' },
} as const;

/** Relative luminance of `#rrggbb` (WCAG 2.2), 0 to 1. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Of two colours, 1 to 21. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((left, right) => left - right);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Reports colours that cannot be read. */
export function checkBrand(location: SourceLocation, brand: BrandFile | undefined, checker: Checker): void {
  if (!brand) return;
  const { accent, accentOnDark } = brand;
  for (const [key, colour] of [
    ['accent', accent],
    ['accentOnDark', accentOnDark ?? accent],
  ] as const) {
    const ground = GROUNDS[key];
    const found = contrast(colour, ground.colour);
    if (found >= LEAST_CONTRAST) continue;
    const place = key === 'accentOnDark' && accentOnDark === undefined ? 'accent' : key;
    checker.diagnostics.add(
      below(location, 'brand', place),
      `${colour} is hard to read on a ${ground.name} page: its contrast is ${found.toFixed(1)}`,
      place === key
        ? `take a ${ground.name === 'light' ? 'darker' : 'lighter'} one, with a contrast of ${LEAST_CONTRAST} at least`
        : 'add accentOnDark, a lighter one for dark pages',
    );
  }
}
