/** The code of a failed call to the system, such as `ENOENT`; undefined where what was thrown has none. */
export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
