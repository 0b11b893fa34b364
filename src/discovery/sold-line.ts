import type { Route } from '../catalogue/types.ts';
import { priceInWords } from './payment-info.ts';
import { requestFields, requiredFields } from './schemas.ts';

function fieldsInWords(route: Route): string {
  const required = requiredFields(route);
  const fields = requestFields(route).map(([name]) => (required.includes(name) ? `${name}*` : name));
  return fields.length === 0 ? 'no fields' : `fields ${fields.join(', ')}`;
}

/** What is sold at a path, in one line of Markdown: price, summary and fields. `method` goes before the path: `GET `. */
export function soldLine(route: Route, method: string): string {
  const summary = route.endpoint.summary.replace(/\s+/g, ' ').trim();
  return `- ${method}${route.path}: ${priceInWords(route)}. ${summary}; ${fieldsInWords(route)}.`;
}
