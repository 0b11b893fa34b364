/** The OpenAPI Initiative's own schema of OpenAPI 3.1, over what the shipped catalogue gives. */
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { loadCatalogue } from '../../../src/catalogue/load.ts';
import { createDocuments } from '../../../src/http/discovery/index.ts';
import { shipped } from '../../../src/shipped.ts';
import { parts } from './samples.ts';

const { service, networks, routes } = loadCatalogue('catalogue', shipped);
const services = {
  'the sample service': createDocuments(parts),
  'the shipped catalogue': createDocuments({ ...parts, service, networks, routes }),
};

for (const [name, documents] of Object.entries(services)) {
  for (const path of ['/openapi.json', '/openapi/x402.json']) {
    t.test(`${path} of ${name} is OpenAPI 3.1`, async (t) => {
      const { valid, errors } = await new Validator().validate(JSON.parse(String(documents.get(path)?.body)));
      t.ok(valid, JSON.stringify(errors, undefined, 2));
    });
  }
}
