/** Catalogues of tests: what one test found sound, the next one need not check again. */
import { join } from 'node:path';
import { checkedCatalogueIn } from '../src/catalogue/checked.ts';
import { loadCatalogue } from '../src/catalogue/load.ts';
import type { Catalogue } from '../src/catalogue/types.ts';
import { shipped } from '../src/gateway/shipped.ts';

const SHIPPED = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
const CHECKED = join('.tap', 'checked-catalogue.json');
/** A file remembers what the last catalogue says and no other: one of a test's own must not displace the shipped one. */
const OTHERS = join('.tap', 'checked-others.json');

/** The shipped one, which nobody changes while tests run. */
let loaded: Catalogue | undefined;

export function loadSound(directory = SHIPPED): Catalogue {
  if (directory !== SHIPPED) return load(directory);
  loaded ??= load(SHIPPED);
  return loaded;
}

function load(directory: string): Catalogue {
  const checked = checkedCatalogueIn(directory === SHIPPED ? CHECKED : OTHERS, CHECKED);
  const catalogue = loadCatalogue(directory, shipped, checked);
  checked.save();
  return catalogue;
}
