/** What an endpoint names of its upstream, a model or a chain, is there: catalogues that name none are refused at load. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkCatalogue } from '../../src/catalogue/load.ts';
import { shipped } from '../../src/shipped.ts';

t.test('every way of naming no model is reported at its place', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const edit = (endpoint: string, from: string, to: string) => {
    const file = join(directory, 'endpoints', `${endpoint}.yaml`);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(from)) throw new Error(`${endpoint} has no ${from}`);
    writeFileSync(file, text.replace(from, to));
  };
  edit('llm/vendor4-4.5', '{ via: chat, model: vendor4-4.5,', '{ via: chat,');
  edit('llm/multi-model', 'required: [model]', 'required: [prompt]');
  edit('llm/multi-model', 'rule: usage-tokens, by: model', 'rule: usage-tokens, model: vendor5-k3');
  edit('image/family-e', 'model: family-e', '');
  edit('image/designer', 'words: { via: chat, model: vendor2-3.5-flash }', 'words: { via: chat }');
  const { diagnostics: problems } = checkCatalogue(directory, shipped);
  t.same(
    problems.map(({ file, message }) => [file.split('endpoints/')[1], message]),
    [
      ['image/designer.yaml', 'chat speaks openai-chat, which needs a model'],
      ['image/family-e.yaml', 'predictions speaks replicate-predictions, which needs a model'],
      ['llm/multi-model.yaml', 'chat speaks openai-chat, which needs a model'],
      ['llm/vendor4-4.5.yaml', 'chat speaks openai-chat, which needs a model'],
    ],
  );
});

t.test('a chain that the upstream gives no number is reported where it is named', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const file = join(directory, 'upstreams.yaml');
  const text = readFileSync(file, 'utf8');
  const numbered = 'chains: { chain-a: "501", chain-b: "196" }';
  t.ok(text.includes(numbered));
  writeFileSync(file, text.replace(numbered, 'chains: { chain-b: "196" }'));
  const { diagnostics } = checkCatalogue(directory, shipped);
  const unnumbered = 'okx has no chain-a in settings.chains of upstreams.yaml';
  t.same(
    diagnostics.map(({ file, message }) => [file.split('endpoints/')[1], message]),
    [
      ['token/chain-a-discovery.yaml', unnumbered],
      ['token/chain-a-market.yaml', unnumbered],
      ['token/signal.yaml', unnumbered],
    ],
  );
});
