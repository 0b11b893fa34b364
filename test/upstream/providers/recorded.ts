import type { Binding } from '../../../src/upstream/adapter.ts';

/** The binding, with the JSON of everything that is sent through it. */
export function recorded(binding: Binding): { binding: Binding; sent: unknown[] } {
  const sent: unknown[] = [];
  const http: Binding['http'] = {
    ...binding.http,
    request: (request) => {
      if (request.json !== undefined) sent.push(request.json);
      return binding.http.request(request);
    },
  };
  return { binding: { ...binding, http }, sent };
}
