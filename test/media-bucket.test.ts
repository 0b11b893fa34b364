import t from 'tap';
import { ConfigProblem } from '../src/environment.ts';
import { readConfig } from '../src/gateway/config.ts';

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigProblem) return error.problems;
    throw error;
  }
};

t.test('media stays in the data directory unless a bucket is named', async (t) => {
  t.equal(readConfig({}).mediaBucket, undefined);
});

t.test('a bucket is named with the address at which its files are read', async (t) => {
  const bucket = { TURNPIKE_MEDIA_S3_BUCKET: 'media', TURNPIKE_MEDIA_S3_PUBLIC_URL: 'https://media.example.com/' };
  const amazon = { bucket: 'media', endpoint: undefined, region: 'us-east-1', publicUrl: 'https://media.example.com' };
  t.same(readConfig(bucket).mediaBucket, amazon);
  const elsewhere = { TURNPIKE_MEDIA_S3_ENDPOINT: 'https://s3.example.com', TURNPIKE_MEDIA_S3_REGION: 'auto' };
  const { mediaBucket } = readConfig({ ...bucket, ...elsewhere });
  t.same(mediaBucket, { ...amazon, endpoint: 'https://s3.example.com', region: 'auto' });
});

t.test('half a bucket is a problem that names the other half', async (t) => {
  t.match(problemsOf({ TURNPIKE_MEDIA_S3_BUCKET: 'media' }), [/^TURNPIKE_MEDIA_S3_PUBLIC_URL is missing/]);
  t.match(problemsOf({ TURNPIKE_MEDIA_S3_ENDPOINT: 'https://s3.example.com' }), [
    /^TURNPIKE_MEDIA_S3_BUCKET is missing/,
  ]);
  const wrong = { TURNPIKE_MEDIA_S3_BUCKET: 'media', TURNPIKE_MEDIA_S3_PUBLIC_URL: 'media' };
  t.match(problemsOf(wrong), [/^TURNPIKE_MEDIA_S3_PUBLIC_URL is not a URL/]);
});
