import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import S3rver from 's3rver';
import t, { type Test } from 'tap';
import { filePath, makeFile } from '../../../src/sandbox/files/index.ts';
import { type Downloader, openDownloader } from '../../../src/upstream/http/download.ts';
import { openS3MediaStore } from '../../../src/upstream/media/s3.ts';
import { endingPauses } from '../../pauses.ts';
import { serve } from '../http/weather.ts';
import { mediaContract } from './store-contract.ts';

const BUCKET = 'turnpike-media';
process.env.AWS_ACCESS_KEY_ID = 'S3RVER';
process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER';

async function open(t: Test, downloads: Downloader, bucket = BUCKET) {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: t.testdir(),
    vhostBuckets: false,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  const publicUrl = `${endpoint}/${BUCKET}`;
  const store = await openS3MediaStore({ bucket, endpoint, region: 'us-east-1', publicUrl, downloads });
  t.teardown(async () => {
    store.close();
    await server.close();
  });
  return {
    store,
    publicUrl,
    async read(name: string) {
      const answer = await fetch(`${publicUrl}/${name}`, { headers: { connection: 'close' } });
      return answer.ok ? Buffer.from(await answer.arrayBuffer()) : undefined;
    },
  };
}

t.test('the bucket keeps the contract', (t) => {
  mediaContract(t, open);
  t.end();
});

async function sound(): Promise<Buffer> {
  const plan = { kind: 'sound', seed: 'bucket', seconds: 1, format: 'mp3', sampleRate: 22_050 } as const;
  const file = await makeFile(filePath(plan));
  if (file === undefined) throw new Error('no sound');
  return file.bytes;
}

const openDownloads = (t: Test): Downloader => {
  const downloads = openDownloader({ trustedOrigins: [] });
  t.teardown(() => downloads.close());
  return downloads;
};

t.test('tells readers what a file is, and that it never changes', async (t) => {
  const { store } = await open(t, openDownloads(t));
  const { url } = await store.put(await sound(), 'audio');
  const answer = await fetch(url, { method: 'HEAD', headers: { connection: 'close' } });
  t.equal(answer.headers.get('content-type'), 'audio/mpeg');
  t.match(answer.headers.get('cache-control'), /immutable/);
});

t.test('says which bucket did not take a file', async (t) => {
  const { store } = await open(t, openDownloads(t), 'no-such-bucket');
  await t.rejects(store.put(await sound(), 'audio'), { message: /media bucket no-such-bucket .*NoSuchBucket/ });
});

t.test('a bucket that takes a connection and says nothing has not taken the file', async (t) => {
  endingPauses(t);
  const { origin } = await serve(t, (request) => void request.resume());
  const bucket = { bucket: BUCKET, endpoint: origin, region: 'us-east-1', publicUrl: origin };
  const store = await openS3MediaStore({ ...bucket, downloads: openDownloads(t), patienceMs: 100 });
  t.teardown(store.close);
  let tries = 0;
  const tried = () => {
    tries += 1;
  };
  // The patience may be over before the bucket has even heard of a try.
  subscribe('net.client.socket', tried);
  t.teardown(() => unsubscribe('net.client.socket', tried));
  await t.rejects(store.put(await sound(), 'audio'), { name: 'MediaNotStored', message: /did not take .*Timeout/ });
  t.equal(tries, 5);
});
