/** What can be wrong with the options of a call although each fits its schema. */
import type { AdapterDeclaration, OptionFault } from '../../../catalogue/contracts.ts';
import { isAskedInSandbox } from '../../../catalogue/settings/settings.ts';
import type { UpstreamFile } from '../../../catalogue/types.ts';
import { evaluate, expressionFault, holds } from '../../jmespath.ts';
import { mapAnswer } from './answer.ts';
import { numbersAsText } from './as-text.ts';
import { bodyFaults } from './body.ts';
import { downloadFaults } from './files.ts';
import { flatFaults } from './flat-fields.ts';
import { type Answering, fileOf, type HttpOptions, resultExpression } from './options.ts';
import { pathFaults, placesIn, textFaults } from './path.ts';
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
    ...downloadFaults(options.download, result),
  ];
  return faults.length > 0 ? faults : exampleFaults(options, upstream);
};

export const exampleResult: NonNullable<AdapterDeclaration['exampleResult']> = (given) => {
  const options: Answering = given;
  if (options.example === undefined) return undefined;
  try {
    return { result: resultOf(options), path: ['example'] };
  } catch {
    // `check` has found it.
    return undefined;
  }
};

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
  ];
  return expressions.flatMap(([path, expression]) => {
    const fault = expression === undefined ? undefined : expressionFault(expression);
    return fault ? [{ path, message: `not JMESPath: ${fault}`, expected: 'see jmespath.org for its grammar' }] : [];
  });
}

function contradictions(options: HttpOptions): OptionFault[] {
  const { result, poll, download, asText } = options;
  const faults: OptionFault[] = [];
  const add = (path: string[], message: string, expected: string) => faults.push({ path, message, expected });
  if (result !== undefined && poll?.result !== undefined) {
    add(['poll', 'result'], 'the result is said twice', 'write result or poll.result');
  }
  if (options.stream && (result ?? poll ?? download ?? asText ?? options.cost ?? options.failed) !== undefined) {
    add(['stream'], 'what streams is passed on as it is', 'leave out result, poll, download, asText, cost and failed');
  }
  if (fileOf(options) && (poll ?? download) !== undefined) {
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
    if (!poll || evaluate(poll.until, example, 'the example') === true) return [];
    return fault('poll.until is not true of this answer', 'write the last answer, of a job that is done');
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error), 'write an answer as the provider gives it');
  }
}

function missingExample(options: Answering, upstream: UpstreamFile): OptionFault[] {
  const expression = resultExpression(options);
  const isMade =
    !options.poll && options.failed === undefined && (expression === undefined || isReversible(expression));
  if (isMade || isAskedInSandbox(upstream)) return [];
  const message = 'the sandbox cannot make an answer of which this makes a result';
  const expected = 'add example: an answer of the provider, or sandbox: real to the upstream';
  const [path = 'result'] = (['poll', 'failed'] as const).filter((option) => options[option] !== undefined);
  return [{ path: [path], message, expected }];
}
