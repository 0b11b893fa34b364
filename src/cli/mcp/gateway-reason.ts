/** Why a gateway has not answered, in a line for a model: what stands before it answers with pages. */
import { SdkHttpError } from '@modelcontextprotocol/client';
import { asJsonObject, textOrNull } from '../../json.ts';
import { reasonOf } from '../reason.ts';

const LONGEST = 300;

const inLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, LONGEST);

/** What an answer says of itself, where it is a gateway's. */
function messageIn(body: unknown): string | undefined {
  try {
    return textOrNull(asJsonObject(asJsonObject(JSON.parse(String(body))).error).message) ?? undefined;
  } catch {
    return undefined;
  }
}

export function gatewayReason(error: unknown): string {
  if (!(error instanceof SdkHttpError)) {
    const isNoMessage = error instanceof Error && error.name === 'ZodError';
    return isNoMessage ? 'its answer is no message of the protocol' : inLine(reasonOf(error));
  }
  const { status, statusText = '', data } = error;
  // The package's own words name where it leads.
  if (status >= 300 && status < 400) return inLine(error.message);
  const said = messageIn(data.text);
  return inLine(`it answered ${status}${said === undefined ? ` ${statusText}` : `: ${said}`}`);
}
