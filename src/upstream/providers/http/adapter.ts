/** Any API that speaks JSON over HTTP, as an endpoint's own file describes it. */
import type { Adapter, Binding, CallContext } from '../../adapter.ts';
import { type Job, NO_JOB } from '../../bought.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../http/upstream-http.ts';
import { evaluate } from '../../jmespath.ts';
import { reportedCost } from '../../reported-cost.ts';
import { mapAnswer, readAnswer } from './answer.ts';
import { authorize, checkSettings, secretsIn, tokenRequest } from './authorization.ts';
import { withFiles } from './body.ts';
import { check, exampleResult } from './check.ts';
import { fileAnswers, fileResult, LARGEST_FILE, withCopies, withDecoded } from './files.ts';
import { fileOf, type HttpOptions, httpOptions, resultExpression } from './options.ts';
import { passOn } from './pass-on.ts';
import { placesIn } from './path.ts';
import { poll } from './poll.ts';
import { refuseBy, refuseFailed } from './refusal.ts';
import { requestFor } from './request.ts';
import { httpSettings } from './settings.ts';

export const http: Adapter<HttpOptions> = {
  name: 'http',
  options: httpOptions,
  upstreamOptions: httpSettings,
  secrets: [],
  secretsIn,
  checkSettings,
  authorize,
  tokenRequest,
  check,
  reads: ({ path, body }) => ({
    fields: Object.fromEntries(placesIn(String(path)).map((field) => [field, 'string|number|boolean'])),
    passesOthers: body === 'input',
  }),
  answers: (options) => {
    const kind = fileOf(options as unknown as HttpOptions);
    return kind && fileAnswers(kind);
  },
  exampleResult,
  streams: ({ stream }) => stream !== undefined,
  async call(input, binding, context) {
    const { options, upstream, http } = binding;
    const request = requestFor(options, input, upstream);
    const whole = async () => await withFiles(request, options, input, upstream, context);
    if (options.stream) return await passOn(await whole(), binding, context);
    const order = [http.baseUrl, request];
    const kind = fileOf(options);
    const bounds = kind && { maxBytes: LARGEST_FILE[kind] };
    const { poll: polled, asText, status } = options;
    const lastResponse = async (job: Job) => {
      const begin = async () => await send({ ...(await whole()), ...(!polled && bounds) }, binding, context);
      if (!polled) return await begin();
      const start = async () => ({ response: await begin(), path: request.path });
      const asking = { ...binding, signal: context.signal, job };
      return await poll(start, { ...polled, asText, status, ...bounds }, asking);
    };
    if (kind) {
      const ask = async (job: Job) => (await lastResponse(job)).body.toString('base64');
      return await fileResult(await context.once(order, ask), kind, upstream, context);
    }
    const ask = async (job: Job) => {
      const last = readAnswer(await lastResponse(job), upstream, options);
      reportCost(options.cost, last, upstream, context);
      refuseFailed(options.failed, last, upstream, 'the answer tells of a failure');
      return mapAnswer(resultExpression(options), last, upstream);
    };
    const { download, decode } = options;
    if (!polled && download === undefined && decode === undefined) return await ask(NO_JOB);
    const copied = await withCopies(await context.once(order, ask), download ?? [], upstream, context);
    return await withDecoded(copied, decode ?? {}, upstream, context);
  },
};

/** Throws UpstreamProblem: what the options say of the answer's status. */
async function send(
  request: ReturnType<typeof requestFor> & Pick<UpstreamRequest, 'maxBytes'>,
  { http, options, upstream }: Binding<HttpOptions>,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<UpstreamResponse> {
  const response = await http.request({ ...request, signal });
  refuseBy(options, request.method, response.status, response.body, upstream);
  return response;
}

function reportCost(
  expression: string | undefined,
  answer: unknown,
  upstream: string,
  context: Pick<CallContext, 'reportCost'>,
): void {
  const cost = expression === undefined ? undefined : costIn(answer, expression, upstream);
  const dollars = reportedCost(typeof cost === 'string' && cost.trim() !== '' ? Number(cost) : cost);
  if (dollars !== undefined) context.reportCost?.(dollars);
}

/** An answer that does not fit the expression says nothing of its cost, and is no worse for it. */
function costIn(answer: unknown, expression: string, upstream: string): unknown {
  try {
    return evaluate(expression, answer, upstream);
  } catch {
    return undefined;
  }
}
