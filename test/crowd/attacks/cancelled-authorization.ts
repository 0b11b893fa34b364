import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { signProof } from '../../clients.ts';
import { type Attack, picture } from '../attack.ts';

const abi = parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)']);
/** EIP-3009. */
const types = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** EIP-3009 authorizations that are cancelled while the provider works. */
export const cancelledAuthorization: Attack = {
  name: 'cancelAuthorization while the provider works',
  async run(scene) {
    const { gateway, address } = await scene.newWallet('0.48');
    const access = gateway.state.evm['chain-c'];
    if (!access) throw new Error('there is no chain-c');
    const { chainId, name, version } = access;
    const account = privateKeyToAccount(access.privateKey);
    const held = scene.hold();
    const calls = Array.from({ length: scene.times(8) }, (_, number) => picture(gateway, `${held.mark} ${number}`));
    const proofs = await Promise.all(calls.map((call) => signProof(gateway, 'chain-c', call)));
    const answers = calls.map((call, number) => scene.send(call, proofs[number] ?? {}));
    await held.reached(answers);
    const cancellations = proofs.map(async (proof) => {
      const { payload } = JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
      const nonce: Hex = payload.authorization.nonce;
      const signature = await account.signTypedData({
        domain: { name, version, chainId, verifyingContract: access.asset as Hex },
        types,
        primaryType: 'CancelAuthorization',
        message: { authorizer: account.address, nonce },
      });
      const args = [account.address, nonce, signature] as const;
      return { to: access.asset, data: encodeFunctionData({ abi, functionName: 'cancelAuthorization', args }) };
    });
    // What has settled by then cannot be cancelled any more.
    await actAs(scene.rpc('chain-c'), address, await Promise.all(cancellations)).catch(() => undefined);
    held.release();
    await Promise.all(answers);
  },
};
