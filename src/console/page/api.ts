/** The gateway's answers to the page, below `/console/api/`. */
const BASE = '/console/api/';

/** Longer than any answer takes; a laptop that slept would else wait for a connection that is no more. */
const PATIENCE_MS = 20_000;

/** What went wrong, in words for the operator. `status` is 0 where no answer came. */
export class Fault extends Error {
  readonly status: number;
  /** The field of the form that is to be mended. */
  readonly field: string | undefined;

  constructor(status: number, message: string, field?: string) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/** Called when the gateway no longer knows who asks. */
const signedOut = new EventTarget();

export function onSignedOut(act: () => void): () => void {
  signedOut.addEventListener('signed-out', act);
  return () => signedOut.removeEventListener('signed-out', act);
}

export const urlOf = (path: string, query: Readonly<Record<string, string | number | undefined>> = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${BASE}${path}${search && `?${search}`}`;
};

const asFault = (error: unknown, otherwise: string): Fault =>
  error instanceof Fault ? error : new Fault(0, otherwise);

/** What the gateway says, as a sentence; without the name of the field, for it stands beside that. */
function sentence(error: string, field: string | undefined): string {
  const told = field !== undefined && error.startsWith(`${field} `) ? error.slice(field.length + 1) : error;
  const begun = /^[a-z]+[ ,;:]/.test(told) ? `${told.charAt(0).toUpperCase()}${told.slice(1)}` : told;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  const body = await response.json().catch(() => undefined);
  if (response.ok) return body as Answer;
  const said = body as { error?: string; field?: string } | undefined;
  if (said?.error !== undefined) throw new Fault(response.status, sentence(said.error, said.field), said.field);
  throw new Fault(response.status, `The gateway answered with status ${response.status}. Its log says why.`);
}

/** Throws Fault. A 401 ends the session on the page as well. */
export async function read<Answer>(url: string): Promise<Answer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (response.status === 401) signedOut.dispatchEvent(new Event('signed-out'));
    return await answerOf<Answer>(response);
  } catch (error) {
    throw asFault(error, 'The gateway does not answer.');
  }
}

/** Throws Fault. Nothing is sent twice: where the answer is lost, the message says that it may have happened. */
export async function write<Answer>(path: string, body: object, method: 'POST' | 'DELETE' = 'POST'): Promise<Answer> {
  try {
    const response = await fetch(urlOf(path), {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status === 401 && path !== 'session') signedOut.dispatchEvent(new Event('signed-out'));
    return await answerOf<Answer>(response);
  } catch (error) {
    throw asFault(error, 'No answer came, but it may have happened all the same. Look before you try again.');
  }
}
