import { JsonShown } from './json.tsx';
import { descriptionIn, type Medium, mediaIn, textIn } from './media.ts';
import type { Result } from './progress.ts';

const OPENING: Readonly<Record<Medium['kind'], string>> = {
  image: 'Open the picture',
  audio: 'Open the audio',
  video: 'Open the video',
  document: 'Save the PDF',
};

function Shown({ medium, description }: { readonly medium: Medium; readonly description: string }) {
  const { kind, url } = medium;
  return (
    <figure>
      {kind === 'image' && <img src={url} alt={description} />}
      {/* biome-ignore-start lint/a11y/useMediaCaption: captions are not sold with it. */}
      {kind === 'audio' && <audio controls src={url} aria-label={description} />}
      {kind === 'video' && <video controls src={url} aria-label={description} />}
      {/* biome-ignore-end lint/a11y/useMediaCaption: captions are not sold with it. */}
      <figcaption>
        {/* In another tab: this one alone has what was bought. */}
        <a href={url} target="_blank" rel="noopener noreferrer">
          {OPENING[kind]}
        </a>
      </figcaption>
    </figure>
  );
}

/** What was bought: to be seen, heard or read, and as it came. */
export function ResultShown({ result }: { readonly result: Result }) {
  const body = result.kind === 'json' ? result.body : undefined;
  const text = result.kind === 'text' ? result.text : textIn(body);
  return (
    <section class="result" aria-label="What you bought" aria-busy={result.kind === 'text' && !result.isWhole}>
      <h3>What you bought</h3>
      {mediaIn(body).map((medium) => (
        <Shown key={medium.url} medium={medium} description={descriptionIn(body, medium.name)} />
      ))}
      {text !== undefined && <p class="said">{text}</p>}
      {result.kind === 'json' && (
        <details open={text === undefined && mediaIn(body).length === 0}>
          <summary>JSON</summary>
          <JsonShown value={body} />
        </details>
      )}
    </section>
  );
}
