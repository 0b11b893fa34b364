import type { ComponentChildren } from 'preact';
import type { Fault } from '../api.ts';
import { timeOf } from './format.ts';
import { Notice } from './notice.tsx';
import type { Polled } from './polled.ts';

interface Props<Data> {
  readonly of: Polled<Data>;
  children(data: Data): ComponentChildren;
}

/** What went wrong, where it may be that the gateway is not there at all. */
export const wordsOf = ({ status, field, message }: Fault): string => {
  if (status === 0) return 'No connection to the gateway: is it running, and can this machine reach it?';
  return field === undefined ? message : `${field}: ${message}`;
};

/** What was read, with a word where it could not be read again. */
export function Loaded<Data>({ of: { data, at, fault, isStale, reload }, children }: Props<Data>) {
  return (
    <>
      {fault && (
        <Notice tone="bad">
          <p>
            {wordsOf(fault)}
            {at !== undefined && ` What is shown is from ${timeOf(at)} UTC.`}
            {fault.status !== 400 && ' It is tried again every few seconds.'}
          </p>
          <button type="button" onClick={reload}>
            Try now
          </button>
        </Notice>
      )}
      {data !== undefined && (
        <div class="loaded" aria-busy={isStale}>
          {children(data)}
        </div>
      )}
      {data === undefined && !fault && (
        <p class="quiet" role="status">
          Loading…
        </p>
      )}
    </>
  );
}
