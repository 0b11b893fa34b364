/** Text from a model in a trusted execution environment, with a proof that is checked here before it is passed on. */
import type { Binding, ModelAdapter } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { chat } from '../openai/chat.ts';
import { chatMetadata, chatModelOptions, chatRequestOf, chatUsage } from '../openai/chat-input.ts';
import { aciConstraint, aciProof } from './aci.ts';
import type { Attestation, Proof } from './proof.ts';
import { signatureProof } from './signature.ts';

/** What `settings` may say. */
type TeeSettings = {
  /** `aci`: receipts of Attested Confidential Inference; `signature`: RedPill's and NEAR AI Cloud's signed answers. */
  readonly proof: 'aci' | 'signature';
  /** What becomes of an answer whose proof does not hold. */
  readonly unverified?: 'answer' | 'fail';
  /** Address of a block explorer with `{receipt_id}` or `{tee_key}` in it. */
  readonly explorerUrl?: string;
};

export const teeOpenai: ModelAdapter = {
  name: 'tee-openai',
  model: 'named-or-asked',
  secrets: ['key'],
  options: { type: 'object' },
  modelOptions: chatModelOptions,
  boundsOutput: true,
  upstreamOptions: {
    type: 'object',
    required: ['proof'],
    properties: {
      proof: {
        enum: ['aci', 'signature'],
        description: 'How the host proves an answer: aci receipts, or signature with an attestation report',
      },
      unverified: {
        enum: ['answer', 'fail'],
        description:
          'What becomes of an answer whose proof does not hold: passed on and charged (answer), or neither (fail)',
      },
      explorerUrl: {
        type: 'string',
        pattern: '^https://',
        description: 'Where an anchored proof can be seen, with {receipt_id} or {tee_key} in it',
      },
    },
  },
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const settings = settingsOf(binding);
    const { model } = binding;
    const request = chatRequestOf(input, binding, context.terms);
    const isAci = settings.proof === 'aci';
    const answer = await chat(binding, isAci ? { ...request, further: aciConstraint } : request, context);
    const proof = await (isAci ? aciProof : signatureProof)({ http: binding.http, answer, model: model.id, context });
    const reason = proof.faults[0];
    if (reason !== undefined && settings.unverified === 'fail') {
      throw new UpstreamProblem('malformed', binding.upstream, `the proof of an answer does not hold: ${reason}`);
    }
    return {
      text: answer.text,
      model: model.name,
      verified: reason === undefined,
      usage: chatUsage(answer),
      proof: shownProof(proof, settings),
      metadata: {
        ...chatMetadata(input, model, answer),
        ...(reason !== undefined && { reason, faults: proof.faults }),
        attestation: shownAttestation(proof.attestation),
      },
    };
  },
};

/** The catalogue's checker has held them to `upstreamOptions`. */
const settingsOf = ({ settings }: Binding): TeeSettings => settings as TeeSettings;

function shownProof(proof: Proof, { explorerUrl }: TeeSettings) {
  return {
    receipt_id: proof.receiptId,
    attested: proof.attestation.fault === undefined,
    tee_key: proof.teeKey,
    request_hash: proof.requestHash,
    response_hash: proof.responseHash,
    explorer_url: explorerUrl === undefined ? null : explorerLink(explorerUrl, proof),
    verify_url: proof.verifyUrl,
    signed: proof.signed,
  };
}

const explorerLink = (template: string, { receiptId, teeKey }: Proof): string =>
  template
    .replaceAll('{receipt_id}', encodeURIComponent(receiptId))
    .replaceAll('{tee_key}', encodeURIComponent(teeKey ?? ''));

/** The quote's own signature is Intel's to vouch for: whoever needs that checks `verify_url` with a TDX verifier. */
const shownAttestation = ({ protocol, tee, nonce, checkedAt, fault }: Attestation) => ({
  protocol,
  tee,
  nonce,
  checked_at: new Date(checkedAt).toISOString(),
  ...(fault !== undefined && { fault }),
  quote_verified: false,
});
