// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { SpeechResult as Result } from '../../schemas/speech-result.ts';

export interface Request {
  /**
   * What to say
   */
  text: string;
  /**
   * Who says it
   */
  voice_id: 'Eve' | 'Ara' | 'Leo' | 'Rex' | 'Sal';
  /**
   * What file to make: mp3 (the default), wav, mp3_24000, mp3_24000_128000 and the like, or the same as an object
   */
  output_format?:
    | string
    | {
        /**
         * mp3 unless given
         */
        codec?: 'mp3' | 'wav';
        /**
         * Hertz
         */
        sample_rate?: 8000 | 16000 | 22050 | 24000 | 44100 | 48000;
        /**
         * Bits a second, of an MP3; without effect on a WAV
         */
        bit_rate?: 32000 | 64000 | 96000 | 128000 | 192000;
      };
}
