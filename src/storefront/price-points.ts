/** How the price of an endpoint moves with the fields of its request. */
import type { Input, Route } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import { type FormField, formFields } from './form-fields.ts';

/** The price of a request, defaults filled in; undefined: it is not valid. */
export type PriceOf = (route: Route, request: Input) => Money | undefined;

interface PricePoint {
  readonly value: string;
  readonly price: Money;
}

/** A field on which the price depends, with the price at some of its values and everything else as in the example. */
export interface PricedField {
  readonly name: string;
  readonly points: readonly PricePoint[];
}

/** Of a range, its ends and what lies between them. */
function stepsOf({ minimum, maximum, kind }: FormField): number[] {
  if (minimum === undefined || maximum === undefined) return [];
  const middle = (minimum + maximum) / 2;
  return [...new Set([minimum, kind === 'integer' ? Math.round(middle) : middle, maximum])];
}

function candidates(field: FormField): readonly unknown[] {
  const { kind, choices } = field;
  if (kind === 'boolean') return [true, false];
  if (kind === 'integer' || kind === 'number') return choices.length > 0 ? choices.map(Number) : stepsOf(field);
  return choices;
}

export function pricedFields(route: Route, priceOf: PriceOf): PricedField[] {
  if (route.price.fixed) return [];
  return formFields(route).flatMap((field) => {
    const points = candidates(field).flatMap((value): PricePoint[] => {
      const price = priceOf(route, { ...route.example, [field.name]: value });
      return price === undefined ? [] : [{ value: String(value), price }];
    });
    return new Set(points.map(({ price }) => price)).size > 1 ? [{ name: field.name, points }] : [];
  });
}
