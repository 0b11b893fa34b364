import { address, createKeyPairSignerFromBytes } from '@solana/kit';
import { decodeBase58 } from '../../../src/on-chain/base58.ts';
import { request, signProof } from '../../clients.ts';
import { inHeader } from '../../exact-offer.ts';
import { placeLighthouse, takeRent, withInstruction } from '../../hostile-solana.ts';
import type { Attack } from '../attack.ts';

/** Solana transactions in which Lighthouse makes accounts at the cost of whoever pays the fee. */
export const lighthouse: Attack = {
  name: 'Lighthouse instructions at our fee payer’s cost',
  async run(scene) {
    const { gateway } = await scene.newWallet('0.1', { network: 'chain-a' });
    const { solana } = gateway.state;
    if (!solana) throw new Error('there is no chain-a');
    await placeLighthouse(scene.rpc('chain-a'));
    const payer = await createKeyPairSignerFromBytes(decodeBase58(solana.secretKey));
    for (let number = 0; number < scene.times(4); number += 1) {
      const call = request(gateway, '/llm/vendor5-k3', {
        prompt: `Fog? ${scene.mark({ writesFor: 0 })}`,
        max_tokens: 16,
      });
      const proof = await signProof(gateway, 'chain-a', call);
      const payment = JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
      const rent = await takeRent(number % 2, address(payment.accepted.extra.feePayer), address(solana.mint));
      const transaction = await withInstruction(payment.payload.transaction, rent, payer);
      await scene.send(call, inHeader({ ...payment, payload: { transaction } }));
    }
  },
};
