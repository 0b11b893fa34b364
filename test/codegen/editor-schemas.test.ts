import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import t from 'tap';
import { parse } from 'yaml';

const CATALOGUE = 'catalogue';

function validator(name: string) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormatsModule.default(ajv);
  return ajv.compile(JSON.parse(readFileSync(join('generated', `${name}.schema.json`), 'utf8')));
}

const yamlIn = (folder: string): string[] =>
  readdirSync(join(CATALOGUE, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(CATALOGUE, folder, name));

t.test('an editor finds nothing wrong with the shipped catalogue', async (t) => {
  const files: [string, string[]][] = [
    ['endpoint', yamlIn('endpoints')],
    ['fragment', yamlIn('schemas')],
    ...['service', 'networks', 'upstreams'].map((name): [string, string[]] => [
      name,
      [join(CATALOGUE, `${name}.yaml`)],
    ]),
  ];
  for (const [schema, paths] of files) {
    const validate = validator(schema);
    for (const path of paths) t.ok(validate(parse(readFileSync(path, 'utf8'))), path, { errors: validate.errors });
  }
});

t.test('each endpoint tells the editor which schema it has', async (t) => {
  for (const path of yamlIn('endpoints')) {
    t.match(readFileSync(path, 'utf8').split('\n')[0], '$schema=../../../generated/endpoint.schema.json', path);
  }
});

t.test('an editor underlines what the checker would refuse', async (t) => {
  const validate = validator('endpoint');
  const endpoint = () => parse(readFileSync(join(CATALOGUE, 'endpoints/image/family-e-2.yaml'), 'utf8'));
  const wrong: [string, (file: ReturnType<typeof endpoint>) => void][] = [
    ['an unknown key', (file) => (file.sumary = 'x')],
    ['an unquoted amount', (file) => (file.price.amounts['1k'] = 0.06)],
    ['an amount finer than a millionth', (file) => (file.price.amounts['1k'] = '0.0000001')],
    ['an unknown rule', (file) => (file.price.rule = 'selct')],
    ['an option of another rule', (file) => (file.price.amount = '0.05')],
    ['an unknown upstream', (file) => (file.upstream.via = 'prediction')],
    ['an unknown model', (file) => (file.upstream.model = 'family-z')],
    ['an unknown network', (file) => (file.networks = ['chain-z'])],
    ['an unknown tag', (file) => (file.mpp.tag = 'Images')],
    ['an unknown fragment', (file) => (file.request.properties.prompt.$ref = 'promt')],
    ['a keyword that JSON Schema does not have', (file) => (file.request.properties.resolution.enumm = [])],
  ];
  t.ok(validate(endpoint()));
  for (const [what, spoil] of wrong) {
    const file = endpoint();
    spoil(file);
    t.notOk(validate(file), what);
  }
});

t.test('an editor asks for the model of a role that needs one', async (t) => {
  const validate = validator('endpoint');
  const designer = () => parse(readFileSync(join(CATALOGUE, 'endpoints/image/designer.yaml'), 'utf8'));
  t.ok(validate(designer()));
  const file = designer();
  delete file.upstream.uses.words.model;
  t.notOk(validate(file));
});
