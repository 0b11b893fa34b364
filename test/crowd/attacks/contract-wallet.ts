import { request, signProof, signUpto } from '../../clients.ts';
import { TWO_FACED } from '../../hostile-wallets.ts';
import { type Attack, picture } from '../attack.ts';

/** A wallet of code that signs for simulations, and reverts when mined. */
export const contractWallet: Attack = {
  name: 'contract wallet that signs for simulations only',
  async run(scene) {
    const { gateway, address } = await scene.newWallet('1', { permit2: true });
    await scene.rpc('chain-c')('anvil_setCode', [address, TWO_FACED]);
    for (let call = 0; call < scene.times(4); call += 1) {
      const wanted = picture(gateway, scene.mark());
      await scene.send(wanted, await signProof(gateway, 'chain-c', wanted));
    }
    const prompt = `Why does fog scatter light? ${scene.mark({ writesFor: 0 })}`;
    const metered = request(gateway, '/llm/vendor5-k3', { prompt, max_tokens: 500 });
    const permit = await signUpto(gateway, 'chain-c', metered).catch(() => undefined);
    if (permit) await scene.send(metered, permit);
  },
};
