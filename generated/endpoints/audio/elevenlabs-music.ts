// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { MusicResult as Result } from '../../schemas/music-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * Format of the file
   */
  output_format: 'mp3_standard' | 'mp3_high_quality' | 'wav_16khz' | 'wav_22khz' | 'wav_24khz' | 'wav_cd_quality';
  /**
   * Length in milliseconds; the price scales with it
   */
  music_length_ms: number;
  /**
   * Whether to rule singing out
   */
  force_instrumental: boolean;
}
