import { pino } from 'pino';
import type { Log } from '../log.ts';

export type { Log } from '../log.ts';

/** JSON lines on standard error; standard output is for what a person asked for. */
export const createLog = (level: string): Log =>
  pino({ level, base: null }, pino.destination({ dest: 2, sync: false }));
