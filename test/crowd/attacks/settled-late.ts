import { setTimeout as delay } from 'node:timers/promises';
import { request, signProof } from '../../clients.ts';
import type { Attack, Noted } from '../attack.ts';

const PATIENCE_MS = 60_000;

/** A facilitator refuses to settle, and does so all the same later: the payer must not be told to pay again. */
export const settledLate: Attack = {
  name: 'facilitator says no and settles later',
  async run(scene) {
    const { gateway, address } = await scene.newWallet('1', { network: 'chain-e' });
    scene.settledLate.add(address.toLowerCase());
    const call = request(gateway, '/chain-e/image/family-e-2', { prompt: `a lighthouse, ${scene.mark()}` });
    const proof = await signProof(gateway, 'chain-e', call);
    const begin = performance.now();
    let answer: Noted;
    do {
      answer = await scene.send(call, proof);
      if (answer.status === 402) scene.account.faults.push('the payer was told to sign again');
      if (answer.status === 200) return;
      await delay(1_000);
    } while (answer.status !== 402 && performance.now() - begin < PATIENCE_MS);
    scene.account.faults.push(`no result in the end, but ${answer.status} ${answer.code}`);
  },
};
