import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { toDecimal } from '../../src/money.ts';
import { follow, paidCall } from './page.ts';

t.test('“Write a pricing rule” makes a rule that keeps the contract, passes the check and prices', async (t) => {
  const project = follow(t, 'src/pricing/README.md');
  t.same(project.typeErrors(), []);
  await project.runTest(t, 'test/pricing/per-character.test.ts');

  const catalogue = join(project.directory, 'catalogue');
  const { checkCatalogue } = await project.load<typeof import('../../src/catalogue/load.ts')>('src/catalogue/load.ts');
  const { shipped } = await project.load<typeof import('../../src/gateway/shipped.ts')>('src/gateway/shipped.ts');
  const checked = checkCatalogue(catalogue, shipped);
  t.same(checked.diagnostics, []);
  const { path, body } = paidCall(project);
  const price = checked.catalogue?.routes.find((route) => route.path === path)?.price;
  const costs = toDecimal(price?.quote(body) ?? 0n);
  t.match(project.text, `The call costs ${costs} dollars, for ${String(body.text).length} characters.`);

  const file = join(catalogue, 'endpoints/audio/reading.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(' maxLength: 15000,', ''));
  const { formatDiagnostic } = await project.load<typeof import('../../src/catalogue/yaml/diagnostic.ts')>(
    'src/catalogue/yaml/diagnostic.ts',
  );
  const said = checkCatalogue(catalogue, shipped).diagnostics.map((problem) => {
    return formatDiagnostic({ ...problem, file: problem.file.replace(/^.*?(?=catalogue\/)/, '') });
  });
  t.match(project.text, `says\n\n\`\`\`\n${said.join('\n')}\n\`\`\`\n`);
});
