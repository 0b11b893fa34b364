/** The code of a failed call to the system, such as `ENOENT`; undefined where what was thrown has none. */
export const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

const WITHOUT_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Whether a call to the system failed because a disk has no room for more. */
export const isWithoutRoom = (error: unknown): boolean => WITHOUT_ROOM.has(codeOf(error));
