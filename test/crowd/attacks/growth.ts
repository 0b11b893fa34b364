import { signProof } from '../../clients.ts';
import { type Attack, picture } from '../attack.ts';

/** Calls that pay nothing, each of them new: unpaid ones, and such with a payment that nothing stands behind. */
export const growth: Attack = {
  name: 'many unpaid calls',
  async run(scene) {
    const { gateway } = await scene.newWallet('0');
    for (let number = 0; number < scene.times(12); number += 1) {
      const call = picture(gateway, scene.mark());
      await scene.send(call, number % 3 === 0 ? await signProof(gateway, 'chain-c', call) : {});
    }
  },
};
