import type { Attack } from '../attack.ts';
import { completion, leave } from './key-calls.ts';

/** Callers who leave in the middle, or after the last word and before the provider's count. */
export const keyLeavesEarly: Attack = {
  name: 'API key: stream left early',
  async run(scene) {
    const key = await scene.newKey('1');
    const calls = Array.from({ length: scene.times(4) }, (_, number) => {
      const call = completion(scene, `On fog, ${scene.mark({ writesFor: 1_500 })}`, { stream: true, max_tokens: 2000 });
      const enough = (text: string) => (number % 2 === 0 ? text.includes('"length"') : text.includes(' fog'));
      return leave(scene, key, call, { enough });
    });
    await Promise.all(calls);
  },
};
