import type { Attack } from '../attack.ts';
import { bearer, completion } from './key-calls.ts';

/** Long streams of a few keys that would take every turn at the provider. */
export const heldTurns: Attack = {
  name: 'streams that hold all turns',
  async run(scene) {
    const keys = await Promise.all([1, 2, 3].map(() => scene.newKey('1')));
    const writesFor = scene.deadlineMs / 2;
    const answers = keys.flatMap((key) =>
      Array.from({ length: scene.times(8) }, () => {
        const content = `Slowly, ${scene.mark({ writesFor })}`;
        return scene.send(completion(scene, content, { stream: true, max_tokens: 300 }), bearer(key));
      }),
    );
    await Promise.all(answers);
  },
};
