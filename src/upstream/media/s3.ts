import type { Downloader } from '../http/download.ts';
import { type MediaStore, openMediaStore } from './store.ts';

/** A bucket of Amazon S3, or of anything that speaks its protocol. */
export interface MediaBucket {
  readonly bucket: string;
  /** Undefined: Amazon's own. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Under which everybody can read the bucket's files by their names. */
  readonly publicUrl: string;
}

const YEAR_SECONDS = 31_536_000;

/** A connection on which nothing moves for so long is given up: what was made could be neither kept nor asked for again. */
const PATIENCE_MS = 10_000;

/**
 * Keeps files in a bucket, which exists and is readable at its public address. Credentials are those of the AWS
 * variables, files and roles. A bucket that does not take a file is the gateway's own failure, so it throws a plain Error.
 */
export async function openS3MediaStore(
  options: MediaBucket & { downloads: Downloader; patienceMs?: number },
): Promise<MediaStore & { close(): void }> {
  const { bucket, endpoint, region, publicUrl, downloads, patienceMs = PATIENCE_MS } = options;
  // Loaded only where it is used: it takes a tenth of a second.
  const { PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    region,
    // Checksums that S3 alone understands would end up in the files of others.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: patienceMs, socketTimeout: patienceMs },
    // The store tries again by itself.
    maxAttempts: 1,
    // Names such as bucket.localhost lead nowhere.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
  });
  const store = openMediaStore({
    publicUrl,
    downloads,
    shelf: {
      async write(name, bytes, type) {
        const object = {
          Bucket: bucket,
          Key: name,
          Body: bytes,
          ContentType: type,
          // Named by its content, a file never changes.
          CacheControl: `public, max-age=${YEAR_SECONDS}, immutable`,
        };
        try {
          await client.send(new PutObjectCommand(object));
        } catch (error) {
          const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
          throw new Error(`the media bucket ${bucket} did not take ${name}: ${reason}`, { cause: error });
        }
      },
    },
  });
  return { ...store, close: () => client.destroy() };
}
