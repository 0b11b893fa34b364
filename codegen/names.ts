/** `pascalCase("image-result")` is `ImageResult`. */
export const pascalCase = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== '')
    .map((part) => `${part[0]?.toUpperCase()}${part.slice(1)}`)
    .join('');

/** What the first line of every generated file says. */
export const NOTICE = 'Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.';
