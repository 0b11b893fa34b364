/** Contracts of the tests' own. The compiler takes seconds, so what it once made of a source is kept. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { compileSource } from '../src/sandbox/chains/compile.ts';
import { type Artifact, readArtifact } from '../src/sandbox/chains/contract.ts';

const KEPT = join('.tap', 'contracts');
/** What else decides what comes of a source, which imports nothing. */
const compiler = (): string[] => [
  createRequire(import.meta.url)('solc/package.json').version,
  readFileSync(new URL('../src/sandbox/chains/compile.ts', import.meta.url), 'utf8'),
];

export function contractOf(name: string, source: string): Artifact {
  const made = [...compiler(), name, source];
  const file = join(KEPT, `${createHash('sha256').update(JSON.stringify(made)).digest('hex')}.json`);
  if (!existsSync(file)) {
    mkdirSync(KEPT, { recursive: true });
    // Whoever compiles it at the same time has a part of its own.
    const part = `${file}.${process.pid}.part`;
    writeFileSync(part, compileSource(name, source));
    renameSync(part, file);
  }
  return readArtifact(file);
}
