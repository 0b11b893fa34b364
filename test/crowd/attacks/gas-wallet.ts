import { signProof } from '../../clients.ts';
import { inHeader } from '../../exact-offer.ts';
import { counting } from '../../hostile-wallets.ts';
import { type Attack, picture } from '../attack.ts';

/** A wallet of code that takes every signature after burning the gas of whoever sends it. */
export const gasWallet: Attack = {
  name: 'gas-burning wallet',
  async run(scene) {
    const { gateway, address } = await scene.newWallet('1');
    await scene.rpc('chain-c')('anvil_setCode', [address, counting(500_000)]);
    for (let number = 0; number < scene.times(4); number += 1) {
      const call = picture(gateway, scene.mark());
      const proof = await signProof(gateway, 'chain-c', call);
      const payment = JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
      const payload = { ...payment.payload, signature: `0x${'00'.repeat(70)}` };
      await scene.send(call, inHeader({ ...payment, payload }));
    }
  },
};
