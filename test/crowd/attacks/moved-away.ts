import { signProof } from '../../clients.ts';
import { type Attack, picture } from '../attack.ts';

/** The whole balance is moved away while the provider works: as many calls as a new payer may have under way. */
export const movedAway = (network: string): Attack => ({
  name: `money moved away while the provider works (${network})`,
  async run(scene) {
    const wallet = await scene.newWallet('0.48', { network });
    const held = scene.hold();
    const calls = Array.from({ length: scene.times(8) }, (_, number) =>
      picture(wallet.gateway, `${held.mark} ${number}`),
    );
    const proofs = await Promise.all(calls.map((call) => signProof(wallet.gateway, network, call)));
    const answers = calls.map((call, number) => scene.send(call, proofs[number] ?? {}));
    await held.reached(answers);
    await wallet.empty();
    held.release();
    await Promise.all(answers);
  },
});
