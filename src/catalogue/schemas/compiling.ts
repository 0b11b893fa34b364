import { ConfigProblem } from '../../environment.ts';

/** Throws ConfigProblem where this Node compiles no code from text, as Ajv makes its validators: each sold call would be a 500. */
export function needCompiling(): void {
  try {
    new Function();
  } catch {
    throw new ConfigProblem([
      'Node is started with --disallow-code-generation-from-strings, and checks of requests are compiled from text: take it out of NODE_OPTIONS, or of where Node is started',
    ]);
  }
}
