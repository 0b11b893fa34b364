/** Intel TDX quotes, versions 4 and 5. Source: Intel TDX DCAP quoting library API, "TD quote format". */

const TDX = 0x81;
/** Where the TD report's 64 bytes of report data are, by quote version: version 5 tells the body's type and size first. */
const REPORT_DATA_AT: Readonly<Record<number, number>> = { 4: 48 + 520, 5: 48 + 6 + 520 };
const REPORT_DATA_BYTES = 64;

/**
 * What the workload had put into the quote, in hex; undefined where it is no TDX quote. `quote` is hex or base64. The
 * quote's own signature is not checked: that takes Intel's collateral.
 */
export function reportDataOf(quote: unknown): string | undefined {
  if (typeof quote !== 'string') return undefined;
  const hex = quote.replace(/^0x/, '');
  const bytes = Buffer.from(hex, /^[0-9a-fA-F]+$/.test(hex) ? 'hex' : 'base64');
  if (bytes.length < 8 || bytes.readUInt32LE(4) !== TDX) return undefined;
  const start = REPORT_DATA_AT[bytes.readUInt16LE(0)];
  if (start === undefined || bytes.length < start + REPORT_DATA_BYTES) return undefined;
  return bytes.subarray(start, start + REPORT_DATA_BYTES).toString('hex');
}
