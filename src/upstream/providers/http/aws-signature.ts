/** How Amazon's services are told who calls: each request is signed (AWS Signature Version 4). */
import aws4 from 'aws4';
import type { Signable } from '../../http/upstream-http.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary keys. */
  readonly sessionToken?: string | undefined;
}

export interface AwsScope {
  /** As the service is named in signatures: `bedrock`. */
  readonly service: string;
  readonly region: string;
}

/** The headers that the signature has to cover: of others, a proxy may write some anew. */
const isCovered = (name: string): boolean => name === 'content-type' || name.startsWith('x-amz-');

/** What no address has, such as brackets: aws4 signs it escaped, together with the escapes beside it. */
const UNWRITTEN = /[^\w;,/?:@&=+$\-.!~*'()#%]/gu;

/** A + is a blank in forms alone, and these know none in a query. */
function asWritten(path: string): string {
  const [before = '', ...query] = path.replace(UNWRITTEN, encodeURIComponent).split('?');
  return [before, ...query.map((part) => part.replaceAll('+', '%20'))].join('?');
}

/**
 * The path as it was signed, and the headers that are sent besides, their names in small letters; a time among the request's own
 * (`x-amz-date`) is kept.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function awsSignature(
  { method, host, path: given, headers, bytes }: Omit<Signable, 'body'>,
  { service, region }: AwsScope,
  credentials: AwsCredentials,
): { readonly path: string; readonly headers: Record<string, string> } {
  const path = asWritten(given);
  const covered = Object.fromEntries(Object.entries(headers).filter(([name]) => isCovered(name)));
  const signed = aws4.sign(
    { service, region, method, host, path, headers: { ...covered, host }, ...(bytes !== undefined && { body: bytes }) },
    credentials,
  );
  const sent = Object.entries(signed.headers ?? {}).flatMap(([written, value]) => {
    const name = written.toLowerCase();
    return name === 'authorization' || name.startsWith('x-amz-') ? [[name, String(value)]] : [];
  });
  return { path, headers: Object.fromEntries(sent) };
}
