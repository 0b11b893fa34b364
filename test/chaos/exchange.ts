/** One request to the world, and the ways in which its answer can fail to come. */
import type { ServerResponse } from 'node:http';
import type { Moment } from './moments.ts';

export interface Exchange {
  /** Below the service: `/settle`. */
  readonly path: string;
  readonly body: string;
  /** Address that the service is reached at, for addresses that it hands out. */
  readonly base: string;
  /** Of the gateway that asks. */
  readonly slot: number;
  readonly response: ServerResponse;
  /** What happens to a purchase is noted in its timeline. */
  note(what: string, mark: string | undefined): void;
  reach(moment: Moment, mark: string | undefined): void;
}

export const sendJson = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

export const loseConnection = (response: ServerResponse): void => {
  response.destroy();
};

/** Resolves once the answer has gone out whole: true, or the caller has gone: false. */
export const gone = (response: ServerResponse): Promise<boolean> =>
  new Promise((resolve) => {
    if (response.closed) resolve(response.writableFinished);
    else response.once('close', () => resolve(response.writableFinished));
  });
