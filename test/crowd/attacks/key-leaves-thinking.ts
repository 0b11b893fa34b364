import type { Attack } from '../attack.ts';
import { completion, leave } from './key-calls.ts';

/** Callers who leave while the model thinks, streamed and whole. */
export const keyLeavesThinking: Attack = {
  name: 'API key: left while the model thinks',
  async run(scene) {
    const key = await scene.newKey('1');
    const calls = Array.from({ length: scene.times(4) }, (_, number) => {
      const content = `On fog, ${scene.mark({ writesFor: 2_500, isSilent: true })}`;
      const call = completion(scene, content, { stream: number % 2 === 0, max_tokens: 2000 });
      return leave(scene, key, call, { ms: 1_000 });
    });
    await Promise.all(calls);
  },
};
