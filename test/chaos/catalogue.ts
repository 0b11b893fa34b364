/**
 * A few endpoints of the shipped catalogue and what they need, so that a gateway starts soon, with deadlines so short that
 * a campaign can wait for them.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';

const ENDPOINTS = ['llm/vendor3-5.2', 'llm/vendor5-k3', 'image/family-e-2', 'credits/credits'];
const MODELS: Readonly<Record<string, readonly string[]>> = {
  chat: ['vendor3-5.2', 'vendor5-k3'],
  predictions: ['family-e-2'],
};

const DEADLINE = '2s';

/** Payers here are strangers whose money is not at stake: what settles first is decided by what it costs, and by contracts. */
const EXPOSURE = {
  perPayer: '1000',
  new: '1000',
  perHour: '100000',
  lossLimit: '100000',
  settleUpfront: { above: '4.00', afterFailures: 1000 },
};

/** What lies so deep the simulated chain does not take back. */
const CONFIRMATIONS = 3;

interface Upstream {
  readonly models: Readonly<Record<string, object>>;
}

/** Writes it to a folder that does not exist yet. */
export function writeCatalogue(to: string): void {
  const from = 'catalogue';
  const read = (name: string) => readFileSync(join(from, name), 'utf8');
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    writeFileSync(join(to, name), text);
  };
  const upstreams: Readonly<Record<string, Upstream>> = parse(read('upstreams.yaml'));
  const used = Object.entries(MODELS).map(([name, models]) => {
    const kept = Object.entries(upstreams[name]?.models ?? {}).filter(([model]) => models.includes(model));
    return [name, { ...upstreams[name], models: Object.fromEntries(kept) }];
  });
  write('upstreams.yaml', stringify(Object.fromEntries(used)));
  write('service.yaml', stringify({ ...parse(read('service.yaml')), exposure: EXPOSURE }));
  write('networks.yaml', read('networks.yaml').replace('chain-c:\n', `chain-c:\n  confirmations: ${CONFIRMATIONS}\n`));
  const schemas = new Set<string>();
  const writeSchemasOf = (text: string) => {
    for (const [, schema = ''] of text.matchAll(/\$ref: ([a-z0-9-]+)/g)) {
      if (schemas.has(schema)) continue;
      schemas.add(schema);
      const name = join('schemas', `${schema}.yaml`);
      write(name, read(name));
      writeSchemasOf(read(name));
    }
  };
  for (const endpoint of ENDPOINTS) {
    const name = join('endpoints', `${endpoint}.yaml`);
    const text = read(name).replace(/^deadline: .*$/m, `deadline: ${DEADLINE}`);
    write(name, text);
    writeSchemasOf(text);
  }
}
