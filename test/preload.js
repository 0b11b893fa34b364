/** Loaded before every test. One that is run from its source, by name, needs somebody who reads TypeScript. */
if (process.argv[1]?.endsWith('.ts')) {
  await import('tsx');
  await import('./preloaded.ts');
} else {
  await import('../build/tests/test/preloaded.js');
}
