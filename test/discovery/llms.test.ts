import { execFileSync } from 'node:child_process';
import t from 'tap';
import type { DocumentParts } from '../../src/discovery/rail-documents.ts';
import { documentsOf, endpoint, oil, parts, price, routesOf, tempo } from './samples.ts';

const llms = (changes: Partial<DocumentParts> = {}, opened?: Parameters<typeof documentsOf>[1]): string =>
  String(documentsOf(changes, opened).get('/llms.txt')?.body);

const text = llms();
const lines = text.split('\n');

t.test('every endpoint has one line, with its price and fields', async (t) => {
  t.same(
    lines.filter((line) => /^- \S*\/image\/oil:/.test(line)),
    [
      '- /image/oil: 0.05 USD. Sells image/oil; fields prompt*, size. Paid on sol-main, base-main.',
      '- /mpp/image/oil: 0.05 USD. Sells image/oil; fields prompt*, size. Settles first with the method tempo.',
    ],
  );
  t.ok(
    lines.includes('- /image/sized: 0.06 to 0.15 USD, 0.1 as listed. Sells image/sized; fields prompt*, size.'),
    'a price that depends on the request is told with its bounds',
  );
  t.ok(lines.includes('- GET /token/trend: 0.1 USD. Sells token/trend; fields ticker*, limit.'));
});

t.test('mirrors are summed up by network, with the prices that differ', async (t) => {
  const [line, ...more] = lines.filter((line) => line.includes('such as'));
  t.same(more, []);
  t.equal(
    line,
    '- stable-main (USDT0, eip155:988), such as /stable/image/oil: image (1). Other prices: /stable/image/oil 0.06 USD.',
  );
});

t.test('a surface on which nothing is sold is not explained', async (t) => {
  const noMpp = llms({}, new Map());
  t.notMatch(noMpp, '## Paying with MPP');
  t.notMatch(noMpp, '/mpp/image');
  const noX402 = llms({ networks: new Map() });
  t.notMatch(noX402, '## Paying with x402');
  t.notMatch(noX402, 'A paid call');
  t.match(noX402, '## Paying with MPP');
});

t.test('only the sandbox says that its money is play money', async (t) => {
  t.match(llms({ mode: 'sandbox' }), 'https://shop.example/sandbox');
  t.notMatch(text, 'sandbox');
});

t.test('stays under 200 lines with 72 endpoints, ten MPP operations and mirrors on three networks', async (t) => {
  const names = Array.from({ length: 72 }, (_, index) => `group-${index % 14}/name-${index}`);
  const many = names.map((name, index) =>
    endpoint(
      name,
      { path: `/${name}` },
      { path: `/base/${name}`, kind: 'mirror', networks: ['base'] },
      { path: `/stable/${name}`, kind: 'mirror', networks: ['stable'], price: price('0.09') },
      { path: `/sol/${name}`, kind: 'mirror', networks: ['sol'] },
      ...(index < 10
        ? [
            {
              path: `/mpp/${name}`,
              kind: 'operation',
              rail: 'mpp',
              operation: { operationId: name, tag: 'Pictures' },
            } as const,
          ]
        : []),
    ),
  );
  const instructions = 'a\nb\nc\nd\ne\nf';
  const written = llms({ service: { ...parts.service, instructions }, routes: routesOf(...many), mode: 'sandbox' });
  t.ok(written.split('\n').length < 200, `${written.split('\n').length} lines`);
  for (const name of names) t.match(written, `- /${name}: `);
});

t.test('the MPP command can be pasted into a shell, whatever the example holds', async (t) => {
  const command = lines.find((line) => line.includes('npx mppx'))?.trim() ?? '';
  const words = execFileSync('sh', ['-c', command.replace('npx mppx', "printf '%s\\n'")], { encoding: 'utf8' });
  const [currency, token, flag, body = '', url] = words.split('\n');
  t.same([currency, token, flag], ['--currency', tempo, '-J']);
  t.same([JSON.parse(body), url], [oil.routes[0]?.example, 'https://shop.example/mpp/image/oil']);
});
