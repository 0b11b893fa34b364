/** Catalogues that are made of the shipped one. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';

const mirrorsOf = (endpoint: Document): YAMLMap[] => {
  const mirrors = endpoint.get('mirrors');
  return isSeq(mirrors) ? mirrors.items.filter(isMap) : [];
};

/** Copies the catalogue's files. Answers those of its endpoints. */
export function copyOf(from: string, to: string): { file: string; text: string }[] {
  cpSync(from, to, { recursive: true });
  const folder = join(to, 'endpoints');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
  return names.map((name) => ({ file: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }));
}

/** Makes an endpoint another one: paths and operation ids may be used once. */
function rename(endpoint: Document, number: number): string {
  const moved = (path: unknown) => `/copy-${number}${String(path)}`;
  endpoint.set('path', moved(endpoint.get('path')));
  for (const mirror of mirrorsOf(endpoint)) if (mirror.has('path')) mirror.set('path', moved(mirror.get('path')));
  if (endpoint.hasIn(['mpp', 'path'])) endpoint.setIn(['mpp', 'path'], moved(endpoint.getIn(['mpp', 'path'])));
  const operationId = endpoint.getIn(['mpp', 'operationId']);
  if (operationId !== undefined) endpoint.setIn(['mpp', 'operationId'], `${String(operationId)}_copy_${number}`);
  return String(endpoint);
}

/** Writes a catalogue with so many times the endpoints, each with its mirrors and its MPP operation, to the folder `to`. */
export function multiplyCatalogue(from: string, to: string, times: number): void {
  for (const { file, text } of copyOf(from, to)) {
    for (let number = 1; number < times; number += 1) {
      writeFileSync(file.replace(/\.yaml$/, `-copy-${number}.yaml`), rename(parseDocument(text), number));
    }
  }
}

/** Writes a catalogue that sells one more endpoint by MPP to the folder `to`. */
export function sellByMpp(from: string, to: string, path: string): void {
  const found = copyOf(from, to)
    .map(({ file, text }) => ({ file, endpoint: parseDocument(text) }))
    .find(({ endpoint }) => endpoint.get('path') === path);
  if (!found) throw new Error(`${from} has no endpoint ${path}`);
  found.endpoint.set('mpp', { operationId: 'mpp_bench', tag: 'AI Services' });
  writeFileSync(found.file, String(found.endpoint));
}

/** Writes a catalogue whose every upstream is at one address to the folder `to`. */
export function callEveryUpstreamAt(from: string, to: string, address: string): void {
  copyOf(from, to);
  const file = join(to, 'upstreams.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^( +baseUrl:) .*$/gm, `$1 ${address}`));
}
