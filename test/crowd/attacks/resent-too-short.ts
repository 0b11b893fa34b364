import { setTimeout as delay } from 'node:timers/promises';
import { request } from '../../clients.ts';
import { inHeader, offersOf, signPayload } from '../../exact-offer.ts';
import type { Attack } from '../attack.ts';

/** What settling may take after the deadline, and a little. */
const MARGIN_SECONDS = 18;

/** A call fails, and is sent again with a payment that is too short by then to settle after the work. Where it was settled first, its result is owed. */
export const resentTooShort: Attack = {
  name: 'resent with an authorization that has become too short',
  async run(scene) {
    const { gateway } = await scene.newWallet('0.05');
    const prompt = `Fog? ${scene.mark({ fault: '500' })}`;
    const call = request(gateway, '/llm/vendor3-5.2', { prompt, tier: 'small' });
    const [offer] = offersOf(await fetch(call.url, call.init)).filter(({ network }) => network === 'eip155:84532');
    const key = gateway.state.evm['chain-c']?.privateKey;
    if (!offer || !key) throw new Error('nothing is offered on chain-c');
    const proof = inHeader(await signPayload(offer, key, { seconds: scene.deadlineMs / 1000 + MARGIN_SECONDS }));
    const first = await scene.send(call, proof);
    await delay(5_000);
    const { status, code } = await scene.send(call, proof);
    if (status !== (first.code === 'result_owed' ? 200 : 402))
      scene.account.faults.push(`answered ${status} ${code} to a payment that was too short`);
  },
};
