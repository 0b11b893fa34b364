/** What every adapter promises, held against its sandbox double. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Test } from 'tap';
import { openFileChecker } from '../../../src/catalogue/schemas/ajv.ts';
import type { Input, JsonSchema, Model, SoldTerms, Upstream } from '../../../src/catalogue/types.ts';
import { type Doubles, sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';
import type { Adapter, ModelBinding } from '../../../src/upstream/adapter.ts';
import { openUpstreamHttp } from '../../../src/upstream/http/client.ts';
import { type UpstreamFailure, UpstreamProblem } from '../../../src/upstream/problem.ts';
import { openCallContext } from '../call-context.ts';

export interface AdapterCase {
  adapter: Adapter;
  upstream: Omit<Upstream, 'name' | 'adapter' | 'baseUrl'>;
  options: Readonly<Record<string, unknown>>;
  /** A model that the upstream lists. */
  model?: string;
  input: Input;
  /** What is sold with the call. */
  terms?: SoldTerms;
  /** What the adapter answers to that input. */
  result: JsonSchema;
  /** What the protocol's refusal is to the caller. */
  refusal: UpstreamFailure;
}

interface Setting {
  doubles: Doubles;
  /** Its model is there where the case names one. */
  binding: ModelBinding;
  context: ReturnType<typeof openCallContext>;
  secrets: Record<string, string>;
}

const NAME = 'the-upstream';

const secretsOf = ({ adapter, upstream }: Pick<AdapterCase, 'adapter' | 'upstream'>): readonly string[] => [
  ...adapter.secrets,
  ...(adapter.secretsIn?.(upstream.settings ?? {}) ?? []),
];

/** The adapter bound to its double through the real HTTP layer. */
export async function openSetting(
  t: Test,
  adapterCase: Omit<AdapterCase, 'input' | 'result' | 'refusal'> & Partial<Pick<AdapterCase, 'result'>>,
): Promise<Setting> {
  const { adapter, options, model, terms } = adapterCase;
  const upstream: Upstream = {
    ...adapterCase.upstream,
    name: NAME,
    adapter: adapter.name,
    baseUrl: 'https://provider.example',
  };
  const use = { upstreams: [{ ...options, via: NAME }], result: adapterCase.result ?? {} };
  const doubles = await startDoubles({ upstreams: [upstream], routes: [use] });
  const secrets = Object.fromEntries(
    secretsOf(adapterCase).map((secret) => [secret, sandboxSecret(`SECRET_${secret}`)]),
  );
  const http = openUpstreamHttp({ upstream, adapter, baseUrl: doubles.baseUrlOf(NAME), secrets });
  t.teardown(async () => {
    await http.close();
    await doubles.close();
  });
  const models = Object.fromEntries(
    Object.entries(upstream.models ?? {}).map(([name, file]) => [name, { ...file, name }]),
  );
  const binding = {
    upstream: NAME,
    adapter: adapter.name,
    options,
    model: models[model ?? ''] as Model,
    models,
    settings: { ...upstream.settings },
    http,
  };
  const context = openCallContext(t, {
    trustedOrigins: [doubles.origin],
    readFrom: doubles.webUrl,
    ...(terms && { terms }),
  });
  return { doubles, binding, secrets, context };
}

/** The problem that a call ends with; throws when it ends otherwise. */
export async function problemOf(work: Promise<unknown>): Promise<UpstreamProblem> {
  const outcome = await work.then(
    () => 'answered',
    (error: unknown) => error,
  );
  if (outcome instanceof UpstreamProblem) return outcome;
  throw new Error(`expected an UpstreamProblem, got ${String(outcome)}`);
}

export function adapterContract(t: Test, title: string, adapterCase: AdapterCase): void {
  const { adapter, input } = adapterCase;

  t.test(title, (t) => {
    t.test('answers a valid result with one billed call', async (t) => {
      const { binding, context, doubles } = await openSetting(t, adapterCase);
      const result = await adapter.call(input, binding, context);
      const ajv = new Ajv2020({ strict: false, allErrors: true });
      t.ok(ajv.validate(adapterCase.result, result), `${ajv.errorsText()} in ${JSON.stringify(result)}`);
      t.ok((doubles.calls()[NAME] ?? 0) >= 1);
    });

    t.test('has options schemas that the catalogue checker takes, and that the case fits', async (t) => {
      const ajv = openFileChecker();
      t.ok(ajv.validate(adapter.options, adapterCase.options), ajv.errorsText());
      for (const schema of [adapter.modelOptions, adapter.upstreamOptions]) {
        if (schema) t.doesNotThrow(() => ajv.compile(schema));
      }
    });

    const failures: [Parameters<Doubles['fault']>[1], UpstreamFailure][] = [
      ['500', 'failed'],
      ['429', 'failed'],
      ['malformed', 'malformed'],
      ['refuse', adapterCase.refusal],
    ];
    for (const [fault, failure] of failures) {
      t.test(`maps ${fault} to ${failure}, without a secret in the problem`, async (t) => {
        const { binding, context, doubles, secrets } = await openSetting(t, adapterCase);
        doubles.fault(NAME, fault, 50);
        const problem = await problemOf(adapter.call(input, binding, context));
        t.equal(problem.failure, failure, problem.message);
        t.equal(problem.upstream, NAME);
        for (const secret of Object.values(secrets))
          t.notMatch(`${problem.message} ${problem.publicMessage} ${problem.providerMessage}`, secret);
      });
    }

    t.test('gives up when its signal aborts', async (t) => {
      const { binding, context, doubles } = await openSetting(t, adapterCase);
      doubles.fault(NAME, 'timeout', 50);
      const problem = await problemOf(adapter.call(input, binding, { ...context, signal: AbortSignal.timeout(100) }));
      t.equal(problem.failure, 'timeout');
    });

    if (secretsOf(adapterCase).length > 0) {
      t.test('is unavailable when the provider does not take the key', async (t) => {
        const setting = await openSetting(t, adapterCase);
        const wrong = Object.fromEntries(secretsOf(adapterCase).map((secret) => [secret, 'a-wrong-key']));
        const upstream = { ...adapterCase.upstream, name: NAME, adapter: adapter.name, baseUrl: '' };
        const http = openUpstreamHttp({ upstream, adapter, baseUrl: setting.doubles.baseUrlOf(NAME), secrets: wrong });
        t.teardown(() => http.close());
        const problem = await problemOf(adapter.call(input, { ...setting.binding, http }, setting.context));
        t.equal(problem.failure, 'unavailable');
        t.notMatch(`${problem.message} ${problem.providerMessage}`, 'a-wrong-key');
      });
    }
    t.end();
  });
}
