import type { ErrorRequestHandler } from 'express';
import { Problem } from '../errors.ts';

/** Of the errors of Express's body parser those that are the caller's: a body that is no JSON, or too much of it. */
export const unreadableBody: ErrorRequestHandler = (error, _request, _response, next) => {
  const { status } = error as { status?: number };
  if (error instanceof Problem || status === undefined || status >= 500) return next(error);
  next(new Problem(status === 413 ? 'body_too_large' : 'invalid_json', undefined));
};
