/** The OpenAPI Initiative's own schema of OpenAPI 3.1, over what the shipped catalogue gives. */
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { loadSound } from '../load-catalogue.ts';

import { documentsOf } from './samples.ts';

const { service, networks, routes } = loadSound();
const services = {
  'the sample service': documentsOf(),
  'the shipped catalogue': documentsOf({ service, networks, routes }),
};

for (const [name, documents] of Object.entries(services)) {
  for (const path of ['/openapi.json', '/openapi/x402.json']) {
    t.test(`${path} of ${name} is OpenAPI 3.1`, async (t) => {
      const { valid, errors } = await new Validator().validate(JSON.parse(String(documents.get(path)?.body)));
      t.ok(valid, JSON.stringify(errors, undefined, 2));
    });
  }
}
