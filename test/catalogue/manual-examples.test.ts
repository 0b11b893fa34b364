import t from 'tap';
import { shipped } from '../../src/gateway/shipped.ts';
import { pages } from '../manual.ts';
import { problemsOf, rightFiles, writeCatalogue } from './temporary-catalogue.ts';

/** Blocks of the page on the catalogue that begin with the name of a file of the catalogue. */
const blocks = [
  ...(pages.get('src/catalogue/README.md') ?? '').matchAll(/```yaml\n# catalogue\/(\S+)\n([\s\S]*?)```/g),
].map(([, file = '', yaml = '']) => ({
  file,
  yaml,
}));

t.test('what the manual shows of a catalogue passes its check', async (t) => {
  const upstreams = blocks.filter(({ file }) => file === 'upstreams.yaml').map(({ yaml }) => yaml);
  const endpoints = blocks.filter(({ file }) => file.startsWith('endpoints/weather/'));
  t.equal(upstreams.length, 3);
  t.equal(endpoints.length, 1);
  const networks = `${rightFiles['networks.yaml']}`
    .replace('chain-e:', 'chain-c:')
    .replace('prefix: chain-e', 'prefix: chain-c');
  const catalogue = writeCatalogue(t, {
    'networks.yaml': networks,
    'upstreams.yaml': upstreams.join('\n'),
    'endpoints/image/oil.yaml': null,
    ...Object.fromEntries(endpoints.map(({ file, yaml }) => [file, yaml])),
  });
  t.same(problemsOf(catalogue, shipped), []);
});
