/** Jobs of a provider that the sandbox stands in for: each is of the endpoint that was called, wherever it is asked for. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

const endpoint = (name: string, start: string, poll: string) => `summary: Makes a ${name}
path: /studio/${name}
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request: { required: [prompt], properties: { prompt: { type: string, maxLength: 40 } } }
result: { required: [${name}], properties: { ${name}: { type: string } }, examples: [{ ${name}: x }] }
example: { prompt: fog }
upstream:
  via: studio
  path: ${start}
  body: { task: { value: ${name} }, prompt: prompt }
  poll: { ${poll}, until: done, every: 1ms, result: "{${name}: made}" }
  example: { done: true, made: the ${name} }
`;

const endpoints = {
  'title.yaml': endpoint('title', '/start-title', 'path: "/jobs/{id}"'),
  'letter.yaml': endpoint('letter', '/start-letter', 'path: "/jobs/{id}"'),
  'song.yaml': endpoint('song', '/start-song', 'path: /look, body: { job: "{id}" }'),
  'film.yaml': endpoint('film', '/start-film', 'path: /look, body: { job: "{id}" }'),
  'poem.yaml': endpoint('poem', '/tasks', 'path: /tasks, body: { task: look, job: "{id}" }'),
  'play.yaml': endpoint('play', '"/?do=play&of=1"', 'path: "/?do=look&job={id}"'),
  'tale.yaml': endpoint('tale', '"/?do=tale&of=1"', 'path: "/?do=look", body: { job: "{id}" }'),
};

t.test(
  'a job is of the endpoint that was called, also where others are asked for, or begun, at its path',
  async (t) => {
    const upstreams = 'studio: { adapter: http, baseUrl: "https://studio.example.com/v1" }\n';
    const files = {
      'service.yaml': settings('service'),
      'networks.yaml': settings('networks'),
      'upstreams.yaml': upstreams,
      endpoints: { studio: endpoints },
    };
    const catalogue = join(t.testdir({ catalogue: files }), 'catalogue');
    const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
    t.teardown(gateway.stop);
    for (const file of Object.keys(endpoints)) {
      const name = file.replace('.yaml', '');
      const before = await gateway.earned('chain-c');
      const answer = await payV2(gateway, 'chain-c', request(gateway, `/studio/${name}`, { prompt: 'fog' }));
      t.equal(await answer.text(), JSON.stringify({ [name]: `the ${name}` }), name);
      t.equal((await gateway.earned('chain-c')) - before, 10_000n, `${name} is charged`);
    }
  },
);
