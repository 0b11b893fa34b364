/** Shows what is wrong with a request at the fields that it is about. */
import { type FormFault, fieldsOf, nameOf } from './read-form.ts';

function tell(place: HTMLElement | null, messages: readonly string[]): void {
  if (!place) return;
  place.textContent = messages.join('; ');
  place.hidden = messages.length === 0;
}

/** `others`: what is about no field. */
export function showFaults(form: HTMLFormElement, faults: readonly FormFault[], others: readonly string[]): void {
  const fields = fieldsOf(form);
  for (const field of fields) {
    const own = faults.filter((fault) => fault.field === nameOf(field)).map(({ message }) => message);
    field.setAttribute('aria-invalid', String(own.length > 0));
    tell(document.getElementById(`${field.id}-fault`), own);
  }
  const names = fields.map(nameOf);
  const elsewhere = faults
    .filter(({ field }) => !names.includes(field))
    .map(({ field, message }) => (field === '' ? message : `${field} ${message}`));
  tell(document.getElementById('request-fault'), [...elsewhere, ...others]);
}
