import { request, signProof } from '../../clients.ts';
import type { Attack } from '../attack.ts';

/** Calls that time out, each of another payer, so that the provider looks broken to everybody. */
export const timeouts: Attack = {
  name: 'calls made to time out, to open the breaker',
  async run(scene) {
    const answers = Array.from({ length: scene.times(12) }, async () => {
      const { gateway } = await scene.newWallet('0.05');
      const mark = scene.mark({ writesFor: scene.deadlineMs * 2, isSilent: true });
      const call = request(gateway, '/llm/vendor3-5.2', { prompt: `Think hard, ${mark}`, tier: 'small' });
      return scene.send(call, await signProof(gateway, 'chain-c', call));
    });
    await Promise.all(answers);
  },
};
