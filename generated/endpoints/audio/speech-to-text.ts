// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { Transcript as Result } from '../../schemas/transcript.ts';

export interface Request {
  /**
   * A public https URL of the sound file, such as an MP3
   */
  audio_file: string;
  /**
   * What is spoken, as a code such as en, pt-BR or yue; auto lets the model find out
   */
  language: string;
}
