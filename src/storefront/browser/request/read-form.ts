/** From the form's fields to the request that they say. */
import { misreadIn } from '../../../as-written.ts';
import { queryOf } from '../../../query-of.ts';
import type { CallRequest } from '../purchase/types.ts';

export type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** A field that does not hold what its kind is. */
export interface FormFault {
  readonly field: string;
  readonly message: string;
}

export interface Reading {
  readonly call: CallRequest | undefined;
  readonly faults: readonly FormFault[];
}

export const fieldsOf = (form: HTMLFormElement): Field[] => [...form.querySelectorAll<Field>('[data-kind]')];

/** As the request has it. */
export const nameOf = ({ dataset }: Field): string => dataset.name ?? '';

/** Throws SyntaxError for JSON that is none. */
function valueIn({ value, dataset: { kind } }: Field): unknown {
  switch (kind) {
    case 'integer':
    case 'number':
      return Number(value);
    case 'boolean':
      return value === 'true';
    case 'lines':
      return value.split('\n').filter((line) => line.trim() !== '');
    case 'json':
      return JSON.parse(value);
    default:
      return value;
  }
}

function toCall(form: HTMLFormElement, values: Readonly<Record<string, unknown>>): CallRequest {
  const url = `${location.origin}${form.dataset.path ?? ''}`;
  if (form.dataset.method !== 'GET') return { method: 'POST', url, body: JSON.stringify(values) };
  const query = queryOf(values);
  return { method: 'GET', url: query === '' ? url : `${url}?${query}` };
}

/**
 * A field that is empty is left out. A number that is not read as it is written is a fault: the gateway would be sent what
 * was read.
 */
export function readForm(form: HTMLFormElement): Reading {
  const values: Record<string, unknown> = {};
  const faults: FormFault[] = [];
  for (const field of fieldsOf(form)) {
    const name = nameOf(field);
    // What browsers let somebody write into a number's field and take for none has an empty value.
    if (field.validity.badInput) faults.push({ field: name, message: 'is not a number' });
    if (field.value === '') continue;
    try {
      const value = valueIn(field);
      const misread = misreadIn(value, () => field.value);
      if (misread) faults.push({ field: name, message: `${misread.path} ${misread.message}`.trim() });
      values[name] = value;
    } catch {
      faults.push({ field: name, message: 'is not JSON' });
    }
  }
  return { call: faults.length > 0 ? undefined : toCall(form, values), faults };
}
