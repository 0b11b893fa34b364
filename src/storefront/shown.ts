/** How pages write money and networks: in one manner, whether they are made here or in a browser. */

/** Decimal dollars, to the cent where they have no more: `0.6` is `0.60`, and `2` stays as it is. */
export const dollarsOf = (text: string): string => (/\.\d$/.test(text) ? `${text}0` : text);

/** `Chain A` of `chain-a`. */
export const networkName = (id: string): string =>
  id
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
