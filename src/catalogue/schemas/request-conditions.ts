/** What a request's `if`, `then`, `oneOf` and the like say of its fields is about fields and values that there are. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';

const SINGLE = ['if', 'then', 'else', 'not'];
const LISTS = ['oneOf', 'anyOf', 'allOf'];

/** Reports conditions on what is no field, or on a value that the field does not take: they would never hold. */
export function checkConditions(request: JsonObject, location: SourceLocation, diagnostics: Diagnostics): void {
  conditionChecks(request, diagnostics).checkAll(request, location);
}

/** The same, for a schema that a request has to fit besides its own. */
export function checkCondition(
  condition: JsonObject,
  request: JsonObject,
  location: SourceLocation,
  diagnostics: Diagnostics,
): void {
  conditionChecks(request, diagnostics).check(condition, location);
}

function conditionChecks(request: JsonObject, diagnostics: Diagnostics) {
  const fields = isJsonObject(request.properties) ? request.properties : {};
  const names = Object.keys(fields);
  const check = (condition: unknown, at: SourceLocation): void => {
    if (!isJsonObject(condition)) return;
    const { required, properties } = condition;
    for (const [index, name] of (Array.isArray(required) ? required : []).entries()) {
      if (names.includes(String(name))) continue;
      diagnostics.add(
        below(at, 'required', index),
        `${String(name)} is no field of this request`,
        choices(String(name), names),
      );
    }
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const place = below(at, 'properties', name);
      if (!names.includes(name))
        diagnostics.add(keyOf(place), `${name} is no field of this request`, choices(name, names));
      else checkValues(schema, fields[name], name, place, diagnostics);
    }
    checkAll(condition, at);
  };
  const checkAll = (schema: JsonObject, at: SourceLocation): void => {
    for (const keyword of SINGLE) check(schema[keyword], below(at, keyword));
    for (const keyword of LISTS) {
      const branches = schema[keyword];
      for (const [index, branch] of (Array.isArray(branches) ? branches : []).entries())
        check(branch, below(at, keyword, index));
    }
  };
  return { check, checkAll };
}

function checkValues(
  condition: unknown,
  field: unknown,
  name: string,
  at: SourceLocation,
  diagnostics: Diagnostics,
): void {
  if (!isJsonObject(condition) || !isJsonObject(field) || !Array.isArray(field.enum)) return;
  const taken = field.enum;
  const listed = Array.isArray(condition.enum) ? condition.enum : [];
  const values = listed.map((value, index) => ({ value, place: below(at, 'enum', index) }));
  if ('const' in condition) values.push({ value: condition.const, place: below(at, 'const') });
  for (const { value, place } of values) {
    if (taken.includes(value)) continue;
    diagnostics.add(place, `${name} does not take ${String(value)}`, choices(String(value), taken.map(String)));
  }
}
