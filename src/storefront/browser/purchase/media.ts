/** Files that a result names by their addresses. */
type Kind = 'image' | 'audio' | 'video' | 'document';

export interface Medium {
  readonly kind: Kind;
  readonly url: string;
  /** The member that names it: `image_url`. */
  readonly name: string;
}

const KINDS: readonly (readonly [Kind, RegExp])[] = [
  ['image', /\.(png|jpe?g|webp|gif|avif|svg)$/i],
  ['audio', /\.(mp3|wav|ogg|opus|m4a|aac|flac)$/i],
  ['video', /\.(mp4|webm|mov|m4v)$/i],
  ['document', /\.pdf$/i],
];

const MOST = 24;

function kindOf(text: string): Kind | undefined {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined;
  const { pathname } = new URL(text);
  return KINDS.find(([, ending]) => ending.test(pathname))?.[0];
}

function* found(value: unknown, name: string): Generator<Medium> {
  if (typeof value === 'string') {
    const kind = kindOf(value);
    if (kind) yield { kind, url: value, name };
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) yield* found(each, Array.isArray(value) ? name : key);
  }
}

/** Each once, in the order of the result. What the request brought along (`metadata`) is no part of it. */
export function mediaIn(result: unknown): Medium[] {
  const { metadata: _left, ...rest } = (typeof result === 'object' ? (result ?? {}) : {}) as Record<string, unknown>;
  const media = new Map<string, Medium>();
  for (const medium of found(rest, 'result')) {
    if (media.size < MOST && !media.has(medium.url)) media.set(medium.url, medium);
  }
  return [...media.values()];
}

/** What a result says in words, if it does. */
export function textIn(result: unknown): string | undefined {
  const { text, transcript, content, answer } = (result ?? {}) as Record<string, unknown>;
  return [text, transcript, content, answer].find((each) => typeof each === 'string') as string | undefined;
}

/** What a picture shows, as far as the result says. */
export function descriptionIn(result: unknown, name: string): string {
  const { image_description: description } = (result ?? {}) as Record<string, unknown>;
  return typeof description === 'string' ? description : name.replaceAll('_', ' ');
}
