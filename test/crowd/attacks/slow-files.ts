import { setTimeout as delay } from 'node:timers/promises';
import { request, signProof } from '../../clients.ts';
import type { Attack } from '../attack.ts';

const HELD_MS = 3_000;

/** Files that never end, and files that are too large: they are read before anything is paid. */
export const slowFiles: Attack = {
  name: 'files that are slow or large, read before payment',
  async run(scene) {
    const { gateway } = await scene.newWallet('1');
    const { slow, large } = scene.files;
    const before = scene.files.bytes();
    const hosts = [...Array<string>(scene.times(6)).fill(slow), ...Array<string>(scene.times(4)).fill(large)];
    const calls = hosts.map((host, number) =>
      request(gateway, '/audio/speech-to-text', { audio_file: `https://${host}/${number}.mp3` }),
    );
    const proofs = await Promise.all(calls.map((call) => signProof(gateway, 'chain-c', call)));
    const answers = calls.map((call, number) => scene.send(call, proofs[number] ?? {}));
    await delay(HELD_MS);
    scene.files.end();
    await Promise.all(answers);
    scene.account.bytes += scene.files.bytes() - before;
  },
};
