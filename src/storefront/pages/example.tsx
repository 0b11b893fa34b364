/** An example of a result: the files in it as they look and sound, and all of it as JSON. */
import { SAMPLES_PATH } from '../samples.ts';

const PICTURE = /\.(png|jpe?g|webp|gif|svg|avif)$/i;
const SOUND = /\.(mp3|wav|ogg|opus|flac|m4a)$/i;
const FILM = /\.(mp4|webm|mov)$/i;

/** Every address in a value that leads to a file. */
function filesIn(value: unknown): string[] {
  if (typeof value === 'string') return URL.canParse(value) ? [new URL(value).pathname.split('/').at(-1) ?? ''] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(filesIn) : [];
}

function Sample({ name }: { name: string }) {
  const url = `${SAMPLES_PATH}/${name}`;
  if (PICTURE.test(name)) return <img src={url} alt="An example of what is made" loading="lazy" />;
  // biome-ignore lint/a11y/useMediaCaption: nothing in the catalogue says what is heard in it
  if (SOUND.test(name)) return <audio controls preload="none" src={url} aria-label="An example of what is made" />;
  // biome-ignore lint/a11y/useMediaCaption: the same
  if (FILM.test(name)) return <video controls preload="none" src={url} aria-label="An example of what is made" />;
  return null;
}

/** `samples`: names of the files that can be shown. */
export function Example({ value, samples }: { value: unknown; samples: ReadonlySet<string> }) {
  const names = [...new Set(filesIn(value))].filter((name) => samples.has(name));
  return (
    <>
      {names.map((name) => (
        <figure key={name} class="sample">
          <Sample name={name} />
        </figure>
      ))}
      <pre>
        <code class="language-json">{JSON.stringify(value, undefined, 2)}</code>
      </pre>
    </>
  );
}
