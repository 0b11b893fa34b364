/** A request as a query: lists as a repeated field, nothing for what is left out, and an empty text for null. */
export const queryOf = (input: object): string =>
  new URLSearchParams(
    Object.entries(input).flatMap(([name, value]) =>
      [value]
        .flat()
        .filter((each) => each !== undefined)
        .map((each) => [name, each === null ? '' : String(each)]),
    ),
  ).toString();
