import type { ModelBinding } from '../../../src/upstream/adapter.ts';

/** The binding, with the JSON of everything that is sent through it. */
export function recorded(binding: ModelBinding): { binding: ModelBinding; sent: unknown[] } {
  const sent: unknown[] = [];
  const http: ModelBinding['http'] = {
    ...binding.http,
    request: (request) => {
      if (request.json !== undefined) sent.push(request.json);
      return binding.http.request(request);
    },
  };
  return { binding: { ...binding, http }, sent };
}
