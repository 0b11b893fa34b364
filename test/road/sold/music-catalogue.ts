import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const settings = (name: string) => readFileSync(join('catalogue', `${name}.yaml`), 'utf8');

/** One endpoint of a provider at `origin`, which wants to be told who calls as `authorize` says: by the keys `id` and `secret`. */
export const musicFiles = (origin: string, authorize: string) => ({
  'service.yaml': settings('service'),
  'networks.yaml': settings('networks'),
  'upstreams.yaml': `music:
  adapter: http
  baseUrl: ${origin}/v1
  keys: { id: MUSIC_ID, secret: MUSIC_SECRET }
  settings: { authorize: ${authorize} }
`,
  endpoints: {
    music: {
      'song.yaml': `summary: A song
path: /music/song
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request: { required: [name], properties: { name: { type: string, maxLength: 40 } } }
result: { required: [id], properties: { id: { type: string } }, examples: [{ id: s-1 }] }
example: { name: Fog }
upstream: { via: music, path: /songs, body: input }
`,
    },
  },
});
