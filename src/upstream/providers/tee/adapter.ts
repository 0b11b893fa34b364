/** Text from a model in a trusted execution environment, with a proof that is checked here before it is passed on. */
import type { Binding, ModelAdapter } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';
import { chat } from '../openai/chat.ts';
import { chatMetadata, chatModelOptions, chatReads, chatRequestOf, chatUsage } from '../openai/chat-input.ts';
import { aciConstraint, aciProof } from './aci.ts';
import { faultsOf, shownChecks } from './checks.ts';
import type { Proof } from './proof.ts';
import { isQuoteGenuine, type KnownMeasurements, nameOfRoot } from './quote-checks.ts';
import { signatureProof } from './signature.ts';
import { measurementNames } from './tdx-quote.ts';

/** What `settings` may say. */
type TeeSettings = {
  /** `aci`: receipts of Attested Confidential Inference; `signature`: RedPill's and NEAR AI Cloud's signed answers. */
  readonly proof: 'aci' | 'signature';
  /** The environments that may answer; left out: any that is genuine. */
  readonly measurements?: readonly KnownMeasurements[];
  /** Address of a block explorer with `{receipt_id}` or `{tee_key}` in it. */
  readonly explorerUrl?: string;
};

type TeeOptions = {
  /** What becomes of an answer whose proof does not hold. Left out: `fail`. */
  readonly unverified?: 'answer' | 'fail';
};

const measurementsSchema = {
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: Object.fromEntries(
      measurementNames.map((name) => [
        name,
        {
          type: 'string',
          pattern: '^[0-9a-f]{96}$',
          description: 'SHA-384 in hex, as the quote has it',
          examples: ['5b'.repeat(48)],
        },
      ]),
    ),
  },
  description:
    'The environments that may answer, each by any of its measurements: an answer from another is not verified',
};

export const teeOpenai: ModelAdapter<TeeOptions> = {
  name: 'tee-openai',
  model: 'named-or-asked',
  secrets: ['key'],
  options: {
    type: 'object',
    properties: {
      unverified: {
        enum: ['answer', 'fail'],
        default: 'fail',
        description:
          'What becomes of an answer whose proof does not hold: neither passed on nor charged (fail), or both with ' +
          'verified: false (answer)',
      },
    },
  },
  reads: () => chatReads,
  answers: () => ['text', 'model', 'verified', 'usage', 'proof', 'metadata'],
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
      measurements: measurementsSchema,
      explorerUrl: {
        type: 'string',
        pattern: '^https://',
        examples: ['https://explorer.example/receipts/{receipt_id}'],
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
    const trust = { root: context.attestationRoot, measurements: settings.measurements };
    const proofOf = isAci ? aciProof : signatureProof;
    const proof = await proofOf({ http: binding.http, answer, model: model.id, context, trust });
    const faults = faultsOf(proof.checks);
    const [reason] = faults;
    if (reason !== undefined && binding.options.unverified !== 'answer') {
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
        ...(reason !== undefined && { reason, faults }),
        checks: shownChecks(proof.checks),
        attestation: shownAttestation(proof, trust.root),
      },
    };
  },
};

/** The catalogue's checker has held them to `upstreamOptions`. */
const settingsOf = ({ settings }: Pick<Binding, 'settings'>): TeeSettings => settings as TeeSettings;

function shownProof(proof: Proof, { explorerUrl }: TeeSettings) {
  return {
    receipt_id: proof.receiptId,
    attested: faultsOf(proof.attestation.checks).length === 0,
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

function shownAttestation({ attestation }: Proof, root: string) {
  const { protocol, tee, nonce, checkedAt, checks, measurements } = attestation;
  const [fault] = faultsOf(checks);
  return {
    protocol,
    tee,
    nonce,
    checked_at: new Date(checkedAt).toISOString(),
    ...(fault !== undefined && { fault }),
    quote_verified: isQuoteGenuine(checks),
    root: nameOfRoot(root),
    measurements,
  };
}
