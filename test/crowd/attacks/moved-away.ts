import { toDecimal, usd } from '../../../src/money.ts';
import { signProof } from '../../clients.ts';
import { type Attack, PICTURE_DOLLARS, picture } from '../attack.ts';

const CALLS = 8;

/**
 * The whole balance is moved away while the provider works: as many calls as a new payer may have under way. `bought`
 * calls were paid for before, so that it is no new payer any more.
 */
export const movedAway = (network: string, bought = 0): Attack => ({
  name: `money moved away while the provider works (${network}${bought > 0 ? `, ${bought} calls paid before` : ''})`,
  async run(scene) {
    const dollars = toDecimal(BigInt(CALLS + bought) * usd(PICTURE_DOLLARS));
    const wallet = await scene.newWallet(dollars, { network });
    for (let number = 0; number < bought; number += 1) {
      const call = picture(wallet.gateway, scene.mark());
      await scene.send(call, await signProof(wallet.gateway, network, call));
    }
    const held = scene.hold();
    const calls = Array.from({ length: scene.times(CALLS) }, (_, number) =>
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
