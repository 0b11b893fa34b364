/** A catalogue of many times the endpoints, each with its mirrors and its MPP operation. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';

const mirrorsOf = (endpoint: Document): YAMLMap[] => {
  const mirrors = endpoint.get('mirrors');
  return isSeq(mirrors) ? mirrors.items.filter(isMap) : [];
};

function countRoutes(endpoint: Document): number {
  return 1 + mirrorsOf(endpoint).length + (endpoint.has('mpp') ? 1 : 0);
}

/** Makes an endpoint another one: paths and operation ids may be used once. */
function rename(endpoint: Document, copy: number): string {
  const moved = (path: unknown) => `/copy-${copy}${String(path)}`;
  endpoint.set('path', moved(endpoint.get('path')));
  for (const mirror of mirrorsOf(endpoint)) if (mirror.has('path')) mirror.set('path', moved(mirror.get('path')));
  if (endpoint.hasIn(['mpp', 'path'])) endpoint.setIn(['mpp', 'path'], moved(endpoint.getIn(['mpp', 'path'])));
  const operationId = endpoint.getIn(['mpp', 'operationId']);
  if (operationId !== undefined) endpoint.setIn(['mpp', 'operationId'], `${String(operationId)}_copy_${copy}`);
  return String(endpoint);
}

/** Writes a catalogue with at least `routes` routes to the folder `to`. Answers how many they are. */
export function multiplyCatalogue(from: string, to: string, routes: number): number {
  cpSync(from, to, { recursive: true });
  const folder = join(to, 'endpoints');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
  const texts = files.map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
  const once = texts.reduce((sum, { text }) => sum + countRoutes(parseDocument(text)), 0);
  const times = Math.ceil(routes / once);
  for (let copy = 1; copy < times; copy += 1) {
    for (const { name, text } of texts) {
      const file = join(folder, name.replace(/\.yaml$/, `-copy-${copy}.yaml`));
      writeFileSync(file, rename(parseDocument(text), copy));
    }
  }
  return once * times;
}
