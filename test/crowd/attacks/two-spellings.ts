import { signProof } from '../../clients.ts';
import { inHeader } from '../../exact-offer.ts';
import { type Attack, PICTURE_DOLLARS, picture } from '../attack.ts';

interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly nonce: string;
}

const upper = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`;
/** A signature whose last byte counts from 0 in place of 27. */
const fromZero = (signature: string): string =>
  signature.slice(0, -2) + (Number.parseInt(signature.slice(-2), 16) - 27).toString(16).padStart(2, '0');

/** One authorization, spelt in several ways, for several calls at once. */
export const twoSpellings: Attack = {
  name: 'one authorization at several spellings',
  async run(scene) {
    const { gateway } = await scene.newWallet(PICTURE_DOLLARS);
    const held = scene.hold();
    const call = picture(gateway, held.mark);
    const proof = await signProof(gateway, 'chain-c', call);
    const payment = JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
    const { signature, authorization } = payment.payload as { signature: string; authorization: Authorization };
    const { from, to, nonce } = authorization;
    const spelt = [
      { signature, authorization },
      { signature, authorization: { ...authorization, from: from.toLowerCase(), to: to.toLowerCase() } },
      { signature: upper(signature), authorization: { ...authorization, nonce: upper(nonce) } },
      { signature: fromZero(signature), authorization },
    ];
    const answers = spelt.map((payload, number) =>
      scene.send(number % 2 === 0 ? call : picture(gateway, `${held.mark} again`), inHeader({ ...payment, payload })),
    );
    const first = Promise.race([...answers, held.reached(answers.slice(0, 1))]);
    await first;
    held.release();
    await Promise.all(answers);
  },
};
