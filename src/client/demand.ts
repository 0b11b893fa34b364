/** Before anything is signed. Throws Error. */
export const demand = (isSo: boolean, what: string): void => {
  if (!isSo) throw new Error(`${what} of what would be signed is not what was offered`);
};
