import { pino } from 'pino';

/** Structured log lines; pino's signature. Keys, proofs, signatures and prompts are never passed to it. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** JSON lines on standard error; standard output is for what a person asked for. */
export const createLog = (level: string): Log =>
  pino({ level, base: null }, pino.destination({ dest: 2, sync: false }));
