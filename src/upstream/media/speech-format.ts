/** How a caller says what kind of sound file it wants. */
import { isJsonObject } from '../../json.ts';

interface SpeechFormat {
  codec: string;
  /** Hertz; undefined: the provider's own. */
  sample_rate?: number;
  /** Bits a second, of an MP3. */
  bit_rate?: number;
}

/**
 * `mp3`, `mp3_24000` and `mp3_24000_128000` (or 128, in thousands), or an object with the same three parts. Nothing is
 * MP3 of the provider's choice; a WAV has no bit rate to choose. The request schema has held the value to these forms.
 */
export function readSpeechFormat(given: unknown): SpeechFormat {
  if (isJsonObject(given)) {
    const { bit_rate, ...format } = { codec: 'mp3', ...given } as SpeechFormat;
    return { ...format, ...(format.codec === 'mp3' && bit_rate !== undefined && { bit_rate }) };
  }
  const [codec = 'mp3', sampleRate, bitRate] = String(given ?? 'mp3').split('_');
  return {
    codec,
    ...(sampleRate !== undefined && { sample_rate: Number(sampleRate) }),
    ...(bitRate !== undefined && { bit_rate: Number(bitRate) < 1000 ? Number(bitRate) * 1000 : Number(bitRate) }),
  };
}
