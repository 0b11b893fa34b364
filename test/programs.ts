/** Loaded before every test: ffmpeg is there on every machine. */
import { provideDecoder } from '../src/sandbox/decoder.ts';

provideDecoder();
