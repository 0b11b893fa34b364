/** What an endpoint says of a call to an API that has no adapter of its own. */

import type { JsonObject } from '../../../json.ts';
import { type InputMapping, inputMappingSchema } from '../../input-mapping.ts';
import type { MediaKind } from '../../media/type.ts';
import type { UpstreamFailure } from '../../problem.ts';
import { headerName } from './settings.ts';

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const encodings = ['json', 'form', 'multipart'] as const;
const kinds = ['image', 'audio', 'video', 'document'] as const satisfies readonly MediaKind[];
const failures = [
  'not-found',
  'invalid-input',
  'content-refused',
  'failed',
] as const satisfies readonly UpstreamFailure[];

export interface FileResult {
  readonly file: MediaKind;
}

/** A job that the first answer names, by `path` or `header`, asked for until it is done. */
export interface PollOptions {
  /** `{job.id}` is an expression over the first answer; a path that is nothing else may be a whole address. */
  readonly path?: string;
  /** The header of the first answer that says where the job is. */
  readonly header?: string;
  /** What is sent to ask for it, by POST; a text that is `{job.id}` alone is an expression over the first answer. Left out: GET. */
  readonly body?: JsonObject;
  /** True of the answer of a job that is done. */
  readonly until: string;
  /** True of the answer of a job that came to nothing. */
  readonly failed?: string;
  readonly every?: string;
  /** Where the result is once the job is done: as `path`, over the last answer. */
  readonly resultAt?: string;
  /** An answer of a job that is done, where its result is elsewhere. */
  readonly done?: unknown;
  /** In place of the endpoint's `result`. */
  readonly result?: string;
}

export type HttpOptions = {
  readonly method?: (typeof methods)[number];
  readonly path: string;
  readonly query?: InputMapping;
  readonly headers?: InputMapping;
  /** A template (see `mapTemplate`), or the whole request. */
  readonly body?: unknown;
  readonly encoding?: (typeof encodings)[number];
  /** Part of the body: the request field that holds the address of its file, or a list of them. */
  readonly upload?: { readonly [part: string]: string };
  readonly result?: string | FileResult;
  /** True of an answer that tells of a failure, whatever its status. */
  readonly failed?: string;
  readonly status?: { readonly [status: string]: (typeof failures)[number] };
  readonly cost?: string;
  readonly download?: readonly string[];
  /** Field of the result that is a file in base64, or a list of them -> what sort of file. */
  readonly decode?: { readonly [field: string]: MediaKind };
  readonly poll?: PollOptions;
  /** Members of the answer, wherever they stand, whose numbers are read as texts. */
  readonly asText?: readonly string[];
  readonly stream?: 'sse';
  /** An answer of the provider: the last one, where it is polled. */
  readonly example?: unknown;
};

/** What options say of the answer, and of the result that is made of it. */
export type Answering = Pick<HttpOptions, 'result' | 'cost' | 'failed' | 'poll' | 'example' | 'asText'>;

/** The sort of file that the answer itself is; undefined for a value. */
export const fileOf = ({ result }: Answering): MediaKind | undefined =>
  typeof result === 'object' ? result.file : undefined;

/** What makes the result of the last answer; undefined where that is the result itself. */
export const resultExpression = ({ result, poll }: Answering): string | undefined =>
  poll?.result ?? (typeof result === 'string' ? result : undefined);

export const expressionSchema = { type: 'string', minLength: 1 } as const;

/** An expression, or a file of one of these kinds. */
export const resultSchema = (fileKinds: readonly MediaKind[]) => ({
  anyOf: [
    expressionSchema,
    {
      type: 'object',
      required: ['file'],
      additionalProperties: false,
      properties: { file: { enum: [...fileKinds], description: 'The answer is such a file' } },
    },
  ],
});

export const httpOptions = {
  type: 'object',
  required: ['path'],
  properties: {
    method: { enum: [...methods], default: 'POST', description: 'How the provider is called' },
    path: {
      type: 'string',
      pattern: '^/',
      description: "The path below the upstream's baseUrl, with /; {field} is a field of the request",
      examples: ['/v1/forecast/{city}'],
    },
    query: {
      ...inputMappingSchema,
      description: 'Query parameter: the request field it comes from',
      examples: [{ days: 'days', units: { value: 'metric' } }],
    },
    headers: {
      ...inputMappingSchema,
      propertyNames: headerName,
      description: 'Header: the request field it comes from',
      examples: [{ 'x-trace': { value: 'turnpike' } }],
    },
    body: {
      'x-request-fields': true,
      description: 'What is sent, its texts being names of request fields; or input: the whole request',
      examples: ['input'],
    },
    encoding: {
      enum: [...encodings],
      default: 'json',
      description: 'How the body is written: multipart for a form with files',
    },
    upload: {
      type: 'object',
      minProperties: 1,
      'x-request-fields': true,
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'Part of the body: the request field with the address of its file, which is read and sent',
      examples: [{ file: 'audio_url' }],
    },
    result: {
      ...resultSchema(kinds),
      description: "The result as a JMESPath expression over the provider's answer; left out: the answer itself",
      examples: ['{temperature: current.temp_c}'],
    },
    status: {
      type: 'object',
      propertyNames: { pattern: '^[1-5][0-9][0-9]$' },
      additionalProperties: { enum: [...failures] },
      description: 'Status of the answer: what it means',
      examples: [{ 404: 'not-found', 422: 'invalid-input' }],
    },
    failed: {
      ...expressionSchema,
      description: 'JMESPath: true where the answer, whatever its status, tells of a failure, which is not charged',
      examples: ['error', "status != 'OK'"],
    },
    cost: {
      ...expressionSchema,
      description: 'JMESPath: what the call cost us, in dollars',
      examples: ['usage.cost_usd'],
    },
    download: {
      type: 'array',
      items: expressionSchema,
      minItems: 1,
      description: 'Fields of the result whose addresses are copied, so that they do not expire',
      examples: [['image_url']],
    },
    decode: {
      type: 'object',
      minProperties: 1,
      additionalProperties: { enum: [...kinds] },
      description: 'Field of the result that is a file in base64: it is kept, and its address put in its place',
      examples: [{ audio_url: 'audio' }],
    },
    poll: {
      type: 'object',
      required: ['until'],
      additionalProperties: false,
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: 'Where the job is; {id} is JMESPath over the first answer',
          examples: ['/jobs/{id}'],
        },
        header: {
          type: 'string',
          pattern: '^[A-Za-z0-9-]+$',
          description: 'In place of path: the header of the first answer that says where the job is',
          examples: ['location', 'operation-location'],
        },
        body: {
          type: 'object',
          minProperties: 1,
          description:
            'For a job that is asked for by POST: what is sent; a text that is {name} alone is JMESPath over the first answer',
          examples: [{ operationName: '{name}' }],
        },
        until: {
          ...expressionSchema,
          description: 'JMESPath: true once the job is done',
          examples: ["state == 'done'"],
        },
        failed: {
          ...expressionSchema,
          description: 'JMESPath: true where the job came to nothing',
          examples: ["state == 'failed'"],
        },
        every: {
          type: 'string',
          pattern: '^[1-9][0-9]*(ms|s|m)$',
          default: '2s',
          description: 'Time between two looks',
        },
        resultAt: {
          type: 'string',
          minLength: 1,
          description: 'Where the result is once the job is done; {id} is JMESPath over its last answer',
          examples: ['/jobs/{id}/result'],
        },
        done: {
          description: 'With resultAt: an answer of a job that is done, which the sandbox gives',
          examples: [{ id: 'j-1', state: 'done' }],
        },
        result: {
          ...expressionSchema,
          description: 'The result as JMESPath over the last answer',
          examples: ['output'],
        },
      },
      description: 'For a provider that answers with a job',
      examples: [{ path: '/jobs/{id}', until: "state == 'done'" }],
    },
    asText: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description:
        'Members of the JSON answered, or elements of XML, wherever they stand, whose numbers are read as texts, digit for digit',
      examples: [['id', 'lamports']],
    },
    stream: {
      const: 'sse',
      description: 'The answer is a stream of events that is passed on as it comes; its payments settle first',
    },
    example: {
      description: 'An answer of the provider, the last one where it is polled: what the sandbox answers',
      examples: [{ current: { temp_c: 20.5 } }],
    },
  },
} as const;
