/** Who is let in at a provider that the sandbox stands in for. */
import aws4 from 'aws4';
import t from 'tap';
import type { Upstream } from '../../../src/catalogue/types.ts';
import { sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';

t.test(
  'a request that is signed by another key than the one it names is not let in, nor one that was changed',
  async (t) => {
    const cloud = {
      name: 'cloud',
      adapter: 'http',
      baseUrl: 'https://cloud.example.com',
      keys: { id: 'CLOUD_ID', secret: 'CLOUD_SECRET' },
      settings: { authorize: { aws: 'bedrock', region: 'eu-west-1', id: 'id', key: 'secret' } },
    } as unknown as Upstream;
    const doubles = await startDoubles({ upstreams: [cloud] });
    t.teardown(() => doubles.close());
    const url = new URL(`${doubles.baseUrlOf('cloud')}/model?q=fog`);
    const ask = async (secretAccessKey: string, sent = '{"a":1}') => {
      const { headers = {} } = aws4.sign(
        {
          ...{
            service: 'bedrock',
            region: 'eu-west-1',
            method: 'POST',
            host: url.host,
            path: url.pathname + url.search,
          },
          headers: { 'content-type': 'application/json' },
          body: '{"a":1}',
        },
        { accessKeyId: sandboxSecret('CLOUD_ID'), secretAccessKey },
      );
      const { Host: _host, 'Content-Length': _length, ...rest } = headers;
      return (await fetch(url, { method: 'POST', headers: rest as Record<string, string>, body: sent })).status;
    };
    t.not(await ask(sandboxSecret('CLOUD_SECRET')), 401);
    t.equal(await ask('another'), 401);
    t.equal(await ask(sandboxSecret('CLOUD_SECRET'), '{"a":2}'), 401);
  },
);
