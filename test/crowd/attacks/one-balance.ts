import { signProof } from '../../clients.ts';
import { type Attack, PICTURE_DOLLARS, picture } from '../attack.ts';

/** Many authorizations at once for a balance that covers one. */
export const oneBalance: Attack = {
  name: 'forty authorizations on one balance',
  async run(scene) {
    const { gateway } = await scene.newWallet(PICTURE_DOLLARS);
    const held = scene.hold();
    const calls = Array.from({ length: scene.times(40) }, (_, number) => picture(gateway, `${held.mark} ${number}`));
    const proofs = await Promise.all(calls.map((call) => signProof(gateway, 'chain-c', call)));
    const answers = calls.map((call, number) => scene.send(call, proofs[number] ?? {}));
    await held.reached(answers);
    held.release();
    await Promise.all(answers);
  },
};
