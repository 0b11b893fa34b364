/** What can be wrong with the options of a call although each fits its schema. */
import type { AdapterDeclaration, OptionFault } from '../../../catalogue/contracts.ts';
import { isAskedInSandbox } from '../../../catalogue/settings/settings.ts';
import type { UpstreamFile } from '../../../catalogue/types.ts';
import { isJsonObject } from '../../../json.ts';
import { evaluate, expressionFault, holds } from '../../jmespath.ts';
import { mapAnswer } from './answer.ts';
import { numbersAsText } from './as-text.ts';
import { bodyFaults } from './body.ts';
import { fileFaults } from './files.ts';
import { flatFaults } from './flat-fields.ts';
import { type Answering, fileOf, type HttpOptions, type PollOptions, resultExpression } from './options.ts';
import { pathFaults, placesIn, placesInTexts, textFaults } from './path.ts';
import { jobFaults } from './poll.ts';
import { headerFaults } from './request.ts';
import { isReversible } from './reversed.ts';

type Check = NonNullable<AdapterDeclaration['check']>;

export const check: Check = (given, { request, result, deadlineMs, upstream }) => {
  const options = given as unknown as HttpOptions;
  const faults = [
    ...pathFaults(options.path, request),
    ...textFaults(options.path, ['path']),
    ...(options.poll ? jobFaults(options.poll, deadlineMs, upstream.baseUrl) : []),
    ...headerFaults(options.headers, request),
    ...bodyFaults(options, request),
    ...flatFaults('query', options.query, request),
    ...flatFaults('headers', options.headers, request),
    ...expressionFaults(options),
    ...contradictions(options),
    ...sandboxFaults(options, upstream),
    ...fileFaults(options, result),
  ];
  return faults.length > 0 ? faults : exampleFaults(options, upstream);
};

export const exampleResult: NonNullable<AdapterDeclaration['exampleResult']> = (given) => {
  const options: Answering & Pick<HttpOptions, 'decode'> = given;
  if (options.example === undefined) return undefined;
  try {
    return { result: withAddresses(resultOf(options), options.decode), path: ['example'] };
  } catch {
    // `check` has found it.
    return undefined;
  }
};

/** The result with addresses in place of the files that are in base64, as it is sold. */
function withAddresses(result: unknown, decode: HttpOptions['decode'] = {}): unknown {
  if (!isJsonObject(result)) return result;
  const address = (file: unknown) => (typeof file === 'string' ? 'https://media.example.com/file' : file);
  const kept = Object.entries(result).map(([field, file]) => {
    if (!Object.hasOwn(decode, field)) return [field, file];
    return [field, Array.isArray(file) ? file.map(address) : address(file)];
  });
  return Object.fromEntries(kept);
}

/** As it is read. */
const exampleOf = ({ example, asText }: Answering): unknown =>
  asText ? JSON.parse(numbersAsText(JSON.stringify(example), asText)) : example;

/** What the options make of their example. Throws UpstreamProblem where they do not fit it. */
const resultOf = (options: Answering): unknown =>
  mapAnswer(resultExpression(options), exampleOf(options), 'the example');

export function expressionFaults({ result, cost, failed, poll }: Answering): OptionFault[] {
  const expressions: readonly (readonly [path: readonly string[], expression: string | undefined])[] = [
    [['result'], typeof result === 'string' ? result : undefined],
    [['cost'], cost],
    [['failed'], failed],
    [['poll', 'until'], poll?.until],
    [['poll', 'failed'], poll?.failed],
    [['poll', 'result'], poll?.result],
    ...placesIn(poll?.path ?? '').map((place) => [['poll', 'path'], place] as const),
    ...placesInTexts(poll?.body).map((place) => [['poll', 'body'], place] as const),
    ...placesIn(poll?.resultAt ?? '').map((place) => [['poll', 'resultAt'], place] as const),
  ];
  return expressions.flatMap(([path, expression]) => {
    const fault = expression === undefined ? undefined : expressionFault(expression);
    return fault ? [{ path, message: `not JMESPath: ${fault}`, expected: 'see jmespath.org for its grammar' }] : [];
  });
}

function contradictions(options: HttpOptions): OptionFault[] {
  const { result, poll, download, decode, asText } = options;
  const faults: OptionFault[] = [];
  const add = (path: string[], message: string, expected: string) => faults.push({ path, message, expected });
  if (result !== undefined && poll?.result !== undefined) {
    add(['poll', 'result'], 'the result is said twice', 'write result or poll.result');
  }
  const besides = result ?? poll ?? download ?? decode ?? asText ?? options.cost ?? options.failed;
  if (options.stream && besides !== undefined) {
    const others = 'leave out result, poll, download, decode, asText, cost and failed';
    add(['stream'], 'what streams is passed on as it is', others);
  }
  const isInJob = poll !== undefined && poll.resultAt === undefined;
  if (fileOf(options) && (isInJob || (download ?? decode) !== undefined)) {
    add(['result', 'file'], 'a file comes in the answer itself', 'download: [field] for an address in the answer');
  }
  if (fileOf(options) && asText !== undefined) {
    add(['asText'], 'an answer that is a file has no members', 'leave it out');
  }
  if (fileOf(options) && options.failed !== undefined) {
    add(['failed'], 'an answer that is a file has no fields', 'leave it out: whatever is no such file has failed');
  }
  return faults;
}

/** What the sandbox answers in the provider's place. Its expressions are right. */
export function exampleFaults(options: Answering, upstream: UpstreamFile): OptionFault[] {
  const { failed, poll } = options;
  if (options.example === undefined) return missingExample(options, upstream);
  const example = exampleOf(options);
  const fault = (message: string, expected: string) => [{ path: ['example'], message, expected }];
  try {
    resultOf(options);
    if (failed !== undefined && holds(failed, example, 'the example')) {
      return fault('failed is true of this answer', 'write an answer of a call that succeeded');
    }
    if (!poll || poll.resultAt !== undefined || evaluate(poll.until, example, 'the example') === true) return [];
    return fault('poll.until is not true of this answer', 'write the last answer, of a job that is done');
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error), 'write an answer as the provider gives it');
  }
}

/** What the sandbox could not answer, besides the example. */
function sandboxFaults(options: HttpOptions, upstream: UpstreamFile): OptionFault[] {
  if (isAskedInSandbox(upstream)) return [];
  const { poll, decode } = options;
  const expression = resultExpression(options);
  const faults: OptionFault[] = [];
  if (decode && expression !== undefined && !isReversible(expression)) {
    const message = 'the sandbox cannot put a file into an answer of which this makes a result';
    faults.push({
      path: ['decode'],
      message,
      expected: 'name members alone in result, or sandbox: real to the upstream',
    });
  }
  return poll?.resultAt === undefined ? faults : [...faults, ...doneFaults(poll)];
}

function doneFaults({ until, resultAt = '', done }: PollOptions): OptionFault[] {
  if (done === undefined) {
    const message = 'the sandbox has no answer of a job whose result is elsewhere';
    const expected = 'add poll.done: an answer of a job that is done, or sandbox: real to the upstream';
    return [{ path: ['poll', 'resultAt'], message, expected }];
  }
  const says = (expression: string): unknown => {
    try {
      return evaluate(expression, done, 'the example');
    } catch {
      // What is no expression is found as such.
      return undefined;
    }
  };
  if (says(until) !== true) {
    const message = 'poll.until is not true of this answer';
    return [{ path: ['poll', 'done'], message, expected: 'write an answer of a job that is done' }];
  }
  const missing = placesIn(resultAt).find((place) => !['string', 'number'].includes(typeof says(place)));
  if (missing === undefined) return [];
  const message = `poll.resultAt takes ${missing}, which this answer does not have`;
  return [{ path: ['poll', 'done'], message, expected: 'write an answer as the provider gives it' }];
}

function missingExample(options: Answering, upstream: UpstreamFile): OptionFault[] {
  const expression = resultExpression(options);
  const isJobs = options.poll !== undefined && options.poll.resultAt === undefined;
  const isMade = !isJobs && options.failed === undefined && (expression === undefined || isReversible(expression));
  if (isMade || isAskedInSandbox(upstream)) return [];
  const message = 'the sandbox cannot make an answer of which this makes a result';
  const expected = 'add example: an answer of the provider, or sandbox: real to the upstream';
  const [path = 'result'] = (['poll', 'failed'] as const).filter((option) => options[option] !== undefined);
  return [{ path: [path], message, expected }];
}
