/** Loaded before every test: ffmpeg is there on every machine, and clients have the fetch that they have elsewhere. */
import './own-fetch.ts';
import { provideDecoder } from '../src/sandbox/decoder.ts';

provideDecoder();
