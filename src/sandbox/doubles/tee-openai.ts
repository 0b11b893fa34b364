/**
 * A host of models in trusted execution environments: chat completions, ACI receipts, and RedPill's signed answers. All
 * of it is signed with keys made at start, the quotes by the sandbox's own hardware. Where an upstream's settings name the
 * environments that may answer, it is the first of them.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { Upstream } from '../../catalogue/types.ts';
import { digest } from '../../examples/seed.ts';
import { canonicalJson } from '../../upstream/providers/tee/canonical-json.ts';
import { type Double, type DoubleAnswer, type DoubleKind, type DoubleRequest, jsonAnswer, jsonBody } from './double.ts';
import { openaiChatDouble } from './openai-chat.ts';
import { type QuoteRequest, sandboxHardware } from './tdx-hardware.ts';

export const teeOpenaiDouble: DoubleKind = { adapter: 'tee-openai', open };

/** What was said, as far as a proof names it, and who signs it: `forged` by a key that no report lists. */
interface Exchange {
  readonly receiptId: string;
  readonly chatId: string;
  readonly model: string;
  readonly requestHash: string;
  readonly responseHash: string;
  readonly servedAt: number;
  readonly keys: Keys;
}

interface Keys {
  readonly receipts: KeyObject;
  readonly answers: PrivateKeyAccount;
}

type Measurements = QuoteRequest['measurements'];

const KEPT = 1000;
const NONCE = /^[0-9a-f]{64}$/;
const KEY_ID = 'receipts-1';
const YEAR_SECONDS = 365 * 24 * 3600;

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

const newKeys = (): Keys => ({
  receipts: generateKeyPairSync('ed25519').privateKey,
  answers: privateKeyToAccount(generatePrivateKey()),
});

function open(upstream: Upstream): Double {
  const chat = openaiChatDouble.open(upstream, []);
  const keys = newKeys();
  const forger = newKeys();
  const keyset = keysetOf(keys);
  const keysetDigest = `sha256:${sha256(canonicalJson(keyset))}`;
  const versionHeaders = { 'x-aci-version': 'aci/1', 'x-aci-keyset-digest': keysetDigest };
  const exchanges: Exchange[] = [];
  const { measurements: environments = [] } = (upstream.settings ?? {}) as { measurements?: Measurements[] };
  const quoteOf = (reportData: string): string => sandboxHardware.quote({ reportData, measurements: environments[0] });

  async function complete(request: DoubleRequest, signedWith: Keys): Promise<DoubleAnswer> {
    const answer = await chat.answer(request);
    if (answer.status !== 200 || typeof answer.body !== 'string') return answer;
    const { id } = JSON.parse(answer.body) as { id: string };
    const receiptId = `rcpt-${digest(`${id} ${exchanges.length}`)}`;
    exchanges.push({
      receiptId,
      chatId: id,
      model: String(jsonBody(request).model),
      requestHash: sha256(request.body),
      responseHash: sha256(answer.body),
      servedAt: Math.floor(Date.now() / 1000),
      keys: signedWith,
    });
    if (exchanges.length > KEPT) exchanges.shift();
    return { ...answer, headers: { ...answer.headers, ...versionHeaders, 'x-receipt-id': receiptId } };
  }

  const known = (id: string) => exchanges.findLast(({ receiptId, chatId }) => receiptId === id || chatId === id);

  async function prove({ path, query }: DoubleRequest): Promise<DoubleAnswer> {
    const [, place, id = ''] = /^\/(aci\/receipts|signature)\/([^/]+)$/.exec(path) ?? [];
    const exchange = known(id);
    switch (place ?? path) {
      case 'aci/receipts':
        return exchange
          ? jsonAnswer(200, receiptOf(exchange, keysetDigest), versionHeaders)
          : notFound('Unknown receipt');
      case 'signature':
        return exchange ? jsonAnswer(200, await signatureOf(exchange)) : notFound('Chat id not found or expired');
      case '/aci/attestation':
        return attestation(query.get('nonce'));
      case '/attestation/report':
        return signerReport(keys.answers.address, query.get('nonce') ?? '', quoteOf);
      default:
        return notFound(`Unknown request URL: GET ${path}`);
    }
  }

  function attestation(nonce: string | null): DoubleAnswer {
    if (nonce !== null && !NONCE.test(nonce)) return badNonce();
    const quotedNonce = nonce === null ? 'null' : `"${nonce}"`;
    const bound = `{"keyset_digest":"${keysetDigest}","nonce":${quotedNonce},"purpose":"aci.report_data.v1"}`;
    const report = {
      api_version: 'aci/1',
      workload_keyset_digest: keysetDigest,
      attestation: {
        tee_type: 'tdx',
        workload_keyset: keyset,
        report_data: sha256(bound),
        source_provenance: {
          repo_url: 'https://github.com/Dstack-TEE/private-ai-gateway',
          repo_commit: digest('commit', 40),
          image_digest: `sha256:${sha256('image')}`,
          image_provenance: null,
        },
        evidence: { quote: quoteOf(sha256(bound).padEnd(128, '0')), event_log: '[]' },
      },
      service_capabilities: { supported_e2ee_versions: [], serving: 'aggregator' },
    };
    return jsonAnswer(200, report, versionHeaders);
  }

  return {
    // Attestation reports are public; receipts and answers belong to a key.
    unauthorized: (request) => (request.path.includes('attestation') ? undefined : chat.unauthorized?.(request)),
    isBilled: (request) => chat.isBilled(request),
    answer: (request) => (request.method === 'POST' ? complete(request, keys) : prove(request)),
    errorBody: (status) => chat.errorBody(status),
    refuse: (request) => chat.refuse(request),
    forge: (request) => complete(request, forger),
  };
}

const notFound = (message: string): DoubleAnswer =>
  jsonAnswer(404, { error: { message, type: 'not_found', code: null, param: null } });

const badNonce = (): DoubleAnswer => {
  const message = 'nonce must be 64 lowercase hex characters';
  return jsonAnswer(400, { error: { message, type: 'invalid_request_error', code: null, param: 'nonce' } });
};

const publicHex = (key: KeyObject): string =>
  Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url').toString('hex');

const keysetOf = ({ receipts }: Keys) => ({
  subject: null,
  not_after: Math.floor(Date.now() / 1000) + YEAR_SECONDS,
  receipt_signing_keys: [{ key_id: KEY_ID, algo: 'ed25519', public_key: publicHex(receipts) }],
  e2ee_public_keys: [],
  tls_public_keys: [{ spki_sha256: sha256('tls') }],
});

/** ACI, section 7.3: signed over its canonical form. */
function receiptOf(exchange: Exchange, keysetDigest: string) {
  const document = {
    api_version: 'aci/1',
    receipt_id: exchange.receiptId,
    chat_id: exchange.chatId,
    model: exchange.model,
    workload_keyset_digest: keysetDigest,
    endpoint: '/v1/chat/completions',
    method: 'POST',
    served_at: exchange.servedAt,
    event_log: [
      { type: 'request.received', body_hash: `sha256:${exchange.requestHash}` },
      { type: 'request.forwarded', body_hash: `sha256:${exchange.requestHash}` },
      {
        type: 'upstream.verified',
        result: 'verified',
        required: true,
        model_id: exchange.model,
        session_id: sha256(exchange.model),
      },
      { type: 'response.returned', body_hash: `sha256:${exchange.responseHash}` },
    ],
    key_id: KEY_ID,
  };
  const signature = sign(null, Buffer.from(canonicalJson(document)), exchange.keys.receipts).toString('hex');
  return { ...document, signature };
}

/** RedPill's and NEAR's: an EIP-191 signature of the model and the two hashes. */
async function signatureOf({ model, requestHash, responseHash, keys }: Exchange) {
  const text = `${model}:${requestHash}:${responseHash}`;
  const signature = await keys.answers.signMessage({ message: text });
  return { text, signature, signing_address: keys.answers.address, signing_algo: 'ecdsa' };
}

function signerReport(address: string, nonce: string, quoteOf: (reportData: string) => string): DoubleAnswer {
  if (!NONCE.test(nonce)) return badNonce();
  return jsonAnswer(200, {
    signing_address: address,
    signing_algo: 'ecdsa',
    intel_quote: quoteOf(address.slice(2).toLowerCase().padEnd(64, '0') + nonce),
    nvidia_payload: JSON.stringify({ nonce, arch: 'HOPPER', evidence_list: [] }),
    event_log: '[]',
    info: { tcb_info: { app_compose: '{}' } },
  });
}
