import { Copyable } from './copyable.tsx';
import { duration } from './format.ts';
import type { Receipt } from './header.ts';
import { JsonShown } from './json.tsx';
import type { Step, StepName } from './progress.ts';

const TITLES: Readonly<Record<StepName, string>> = {
  challenge: 'Price',
  signature: 'Signature',
  settlement: 'Payment',
  answer: 'Answer',
};

const STATES = { working: 'under way', done: 'done', failed: 'failed' } as const;

function Details({ headers = [], decoded }: Pick<Step, 'headers' | 'decoded'>) {
  if (headers.length === 0 && !decoded) return null;
  return (
    <details>
      <summary>{decoded && headers.length === 0 ? decoded.title : 'Headers'}</summary>
      {headers.length > 0 && (
        <dl class="headers">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {decoded && (
        <>
          {headers.length > 0 && <p>{decoded.title}</p>}
          <JsonShown value={decoded.value} />
        </>
      )}
    </details>
  );
}

function Line({ step }: { readonly step: Step }) {
  const { name, state, words, ms } = step;
  const transaction = name === 'answer' ? (step.decoded?.value as Receipt | undefined)?.transaction : undefined;
  return (
    <li class={`step ${state}`} aria-busy={state === 'working'}>
      <p>
        <b>{TITLES[name]}</b> <span class="state">{STATES[state]}</span>{' '}
        {ms !== undefined && <span class="took">{duration(ms)}</span>}
      </p>
      <p>{words}</p>
      {transaction && (
        <p>
          Transaction <Copyable text={transaction} what="transaction" />
        </p>
      )}
      <Details {...step} />
    </li>
  );
}

/** What has happened so far, told to who listens as it happens. */
export function Steps({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <ol class="steps" aria-live="polite" aria-label="Steps of the purchase">
      {steps.map((step) => (
        <Line key={step.name} step={step} />
      ))}
    </ol>
  );
}
