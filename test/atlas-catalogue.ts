/** An endpoint whose schemas tell items by their place and members by a pattern, which few tools expect. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROUTE = `summary: A way from here to there
path: /atlas/route
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request:
  required: [from]
  properties:
    from: { type: array, prefixItems: [{ type: number }, { type: string }], items: false, minItems: 2 }
    by:
      type: object
      properties: { name: { type: string } }
      patternProperties: { x-.+: { type: integer } }
      additionalProperties: false
result:
  required: [way]
  properties:
    way: { type: array, items: { type: array, prefixItems: [{ type: number }, { type: string }], items: false, minItems: 2 } }
    tolls: { type: object, patternProperties: { "^[A-Z]+$": { type: number } }, additionalProperties: false }
  examples: [{ way: [[1, north], [2, east]], tolls: { EUR: 4 } }]
example: { from: [38.7, west], by: { x-car: 1 } }
upstream: { via: atlas, path: /route, body: input }
`;

/** Adds it to a catalogue's files. Nothing listens at its provider. */
export function addAtlas(catalogue: string): void {
  appendFileSync(join(catalogue, 'upstreams.yaml'), 'atlas: { adapter: http, baseUrl: "http://127.0.0.1:9" }\n');
  mkdirSync(join(catalogue, 'endpoints/atlas'));
  writeFileSync(join(catalogue, 'endpoints/atlas/route.yaml'), ROUTE);
}
