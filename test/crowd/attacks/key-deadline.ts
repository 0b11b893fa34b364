import type { Attack } from '../attack.ts';
import { bearer, completion } from './key-calls.ts';

/** Answers that take longer than the deadline, streamed and whole. */
export const keyDeadline: Attack = {
  name: 'API key: answer left to the deadline',
  async run(scene) {
    const key = await scene.newKey('1');
    const writesFor = scene.deadlineMs * 2;
    const answers = Array.from({ length: scene.times(4) }, (_, number) => {
      const content = `Count the fog banks, ${scene.mark({ writesFor })}`;
      return scene.send(completion(scene, content, { stream: number % 2 === 0, max_tokens: 8000 }), bearer(key));
    });
    await Promise.all(answers);
  },
};
