/** The request of an endpoint as a form: readable without scripts, filled in and sent with them. */
import type { Route } from '../../catalogue/types.ts';
import { type FormField, formFields } from '../form-fields.ts';

const LONGEST_SLIDER = 1_000;

const hasSlider = ({ minimum, maximum }: FormField): boolean =>
  minimum !== undefined && maximum !== undefined && maximum - minimum <= LONGEST_SLIDER;

function Control({ field, id, describedBy }: { field: FormField; id: string; describedBy: string }) {
  const { name, kind, choices, initial, minimum, maximum } = field;
  // A control that is called `dataset` would take the place of the form's own.
  const common = { id, 'data-name': name, 'data-kind': kind, 'aria-describedby': describedBy };
  const placeholder = field.default;
  if (choices.length > 0) {
    return (
      <select {...common}>
        <option value="">{field.default === '' ? 'left out' : `left out: ${field.default}`}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === initial}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  switch (kind) {
    case 'integer':
    case 'number':
      return (
        <div class="number">
          <input
            {...common}
            type="number"
            value={initial}
            placeholder={placeholder}
            min={minimum}
            max={maximum}
            step={kind === 'integer' ? 1 : 'any'}
          />
          {hasSlider(field) && (
            <input
              type="range"
              class="with-script"
              data-for={id}
              aria-label={`${name}, slider`}
              min={minimum}
              max={maximum}
              step={kind === 'integer' ? 1 : (Number(maximum) - Number(minimum)) / 100}
              value={initial || placeholder || minimum}
            />
          )}
        </div>
      );
    case 'long':
      return <textarea {...common} rows={3} placeholder={placeholder} value={initial} />;
    case 'lines':
      return <textarea {...common} rows={2} placeholder="one a line" value={initial} />;
    case 'json':
      return <textarea {...common} class="code" rows={4} placeholder="JSON" value={initial} spellcheck={false} />;
    default:
      return <input {...common} type="text" value={initial} placeholder={placeholder} />;
  }
}

export function RequestForm({ route }: { route: Route }) {
  const fields = formFields(route);
  return (
    <form id="request" method="get" data-method={route.methods[0]} data-path={route.path} novalidate>
      {fields.length === 0 && <p class="quiet">It takes no fields.</p>}
      {fields.map((field) => {
        const id = `field-${encodeURIComponent(field.name)}`;
        return (
          <div key={field.name} class="field">
            <label for={id}>
              <code>{field.name}</code>
              {field.isRequired && <span class="required"> required</span>}
            </label>
            <Control field={field} id={id} describedBy={`${id}-hint ${id}-fault`} />
            <p id={`${id}-hint`} class="hint">
              {[field.description, field.takes].filter((text) => text !== '').join('; ')}
            </p>
            <p id={`${id}-fault`} class="fault" hidden />
          </div>
        );
      })}
      <p id="request-fault" class="fault" role="alert" hidden />
    </form>
  );
}
