import fc from 'fast-check';
import t from 'tap';
import { parse } from 'yaml';
import { fileYaml, withUpstream } from '../../../src/cli/import/yaml.ts';

t.test('what is written is read back as it was', async (t) => {
  const text = fc.oneof(
    fc.string(),
    fc.lorem({ maxCount: 40 }),
    fc.stringMatching(/^[a-z .:#]{80,300}$/),
    fc.stringMatching(/^[ \n\t:#>|"'-]{0,120}$/),
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
    list: fc.array(tie('any'), { maxLength: 4 }),
    map: fc.dictionary(fc.string({ minLength: 1 }), tie('any'), { maxKeys: 4, noNullPrototype: true }),
  })).map;
  fc.assert(
    fc.property(value, (file) => {
      const read = parse(fileYaml(file as object));
      return JSON.stringify(read) === JSON.stringify(file);
    }),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('an upstream comes behind the others, which stay as they are', async (t) => {
  const entry = { adapter: 'http', baseUrl: 'https://b.example' };
  const text = '# Providers\na:  { adapter: http,   baseUrl: https://a.example } # here\n';
  t.equal(withUpstream(text, 'b', entry), `${text}\nb:\n  adapter: http\n  baseUrl: https://b.example\n`);
  for (const empty of ['', '{}\n', '# none yet\n', '# none yet\n{}\n']) {
    const after = withUpstream(empty, 'b', entry);
    t.same(parse(after), { b: entry });
    t.equal(after.startsWith('# none yet'), empty.startsWith('#'));
  }
});
