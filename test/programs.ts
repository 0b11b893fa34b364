/** Loaded before every test: ffmpeg and ffprobe are there on every machine. */
import { provideDecoder } from '../src/sandbox/decoder.ts';

provideDecoder();
