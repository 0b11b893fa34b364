/** A user of the system whom it refuses what root may do. */
const NOBODY = 65_534;

/** Work that is done at once, as a user for whom the modes of files count: for root they do not. */
export function withoutRights<Value>(work: () => Value): Value {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}
