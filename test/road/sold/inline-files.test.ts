/** A file that a provider hands out within its answer, without an address, is sold as any other. */
import t from 'tap';
import { filePath, makeFile } from '../../../src/sandbox/files/index.ts';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { serve } from '../../upstream/http/weather.ts';

const bytes = async (label: string): Promise<Buffer> => {
  const picture = { kind: 'picture', seed: 'inline', width: 64, height: 48, label, format: 'webp' } as const;
  return (await makeFile(filePath(picture)))?.bytes ?? Buffer.alloc(0);
};
const webp = await bytes('inline');

let output: unknown;
const { origin } = await serve(t, (incoming, response) => {
  incoming.resume();
  const urls = { get: '/predictions/p1', cancel: '/predictions/p1/cancel' };
  const prediction = { id: 'p1', status: 'succeeded', output, error: null, urls };
  response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(prediction));
});

const gateway = await startGateway({
  networks: ['chain-c', 'chain-e'],
  upstreams: { predictions: origin },
});
t.teardown(gateway.stop);

const buy = () => payV2(gateway, 'chain-c', request(gateway, '/image/family-a-2-max', { prompt: 'fog' }));

t.test('a picture in a data URL is kept and charged, whatever that calls it', async (t) => {
  for (const type of ['image/webp', 'application/octet-stream', '']) {
    output = `data:${type};base64,${webp.toString('base64')}`;
    const earned = await gateway.earned('chain-c');
    const answer = await buy();
    t.equal(answer.status, 200, type);
    const { image_url, metadata } = (await answer.json()) as { image_url: string; metadata: Record<string, unknown> };
    t.match(metadata, { width: 64, height: 48 });
    t.same(Buffer.from(await (await fetch(image_url)).arrayBuffer()), webp);
    t.ok((await gateway.earned('chain-c')) > earned);
  }
});

t.test('where its own address is told, that of the kept file is, and the picture is not sent twice', async (t) => {
  output = `data:image/webp;base64,${webp.toString('base64')}`;
  const order = request(gateway, '/chain-e/image/family-a-2-max', { prompt: 'fog' });
  const answer = await payV2(gateway, 'chain-e', order);
  t.equal(answer.status, 200);
  const { image_url, metadata } = (await answer.json()) as { image_url: string; metadata: Record<string, unknown> };
  t.equal(metadata.replicate_url, image_url);
});

t.test('what is no picture in a data URL is not charged', async (t) => {
  for (const url of ['data:image/webp;base64,', 'data:text/html;base64,PGh0bWw+', 'data:,no', 'data:']) {
    output = [url];
    const earned = await gateway.earned('chain-c');
    const answer = await buy();
    t.equal(answer.status, 500, url);
    t.match(await answer.json(), { error: { code: 'upstream_invalid_result' } });
    t.equal(await gateway.earned('chain-c'), earned);
  }
});
