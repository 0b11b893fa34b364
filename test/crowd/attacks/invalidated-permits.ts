import { encodeFunctionData, parseAbi } from 'viem';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { request, signUpto } from '../../clients.ts';
import type { Attack } from '../attack.ts';

const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const abi = parseAbi(['function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)']);

function nonceOf(proof: Readonly<Record<string, string>>): bigint {
  const { payload } = JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
  return BigInt(payload.permit2Authorization.nonce);
}

/** Permits whose nonces are used up while the provider works. */
export const invalidatedPermits: Attack = {
  name: 'invalidateUnorderedNonces for upto',
  async run(scene) {
    const { gateway, address } = await scene.newWallet('1', { permit2: true });
    const held = scene.hold({ writesFor: 0 });
    // 0.033 dollars each: a new payer's limit is 0.50.
    const calls = Array.from({ length: scene.times(15) }, (_, number) =>
      request(gateway, '/llm/vendor5-k3', { prompt: `Fog? ${held.mark} ${number}`, max_tokens: 2000 }),
    );
    const permits = await Promise.all(calls.map((call) => signUpto(gateway, 'chain-c', call).catch(() => undefined)));
    const signed = calls.flatMap((call, number) => {
      const permit = permits[number];
      return permit ? [{ call, permit }] : [];
    });
    const answers = signed.map(({ call, permit }) => scene.send(call, permit));
    await held.reached(answers);
    const invalidations = signed.map(({ permit }) => {
      const nonce = nonceOf(permit);
      const args = [nonce >> 8n, 1n << (nonce & 0xffn)] as const;
      return { to: PERMIT2, data: encodeFunctionData({ abi, functionName: 'invalidateUnorderedNonces', args }) };
    });
    await actAs(scene.rpc('chain-c'), address, invalidations);
    held.release();
    await Promise.all(answers);
  },
};
