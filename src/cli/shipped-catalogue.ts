import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** From the sources, or from what was built of them. */
const PLACES = ['../../catalogue', '../../../catalogue'];

/** The catalogue that comes with the package, not one that lies about where a command is run. */
export const shippedCatalogue = (): string =>
  PLACES.map((place) => join(import.meta.dirname, place)).find((place) => existsSync(join(place, 'networks.yaml'))) ??
  '';
