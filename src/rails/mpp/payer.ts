/** The sandbox's funded wallet, as mppx's unmodified client. */
import { Challenge, Receipt } from 'mppx';
import { evm, Mppx, tempo } from 'mppx/client';
import { createClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { type Payer, PayProblem, type SandboxState, worthOn } from '../paying-client.ts';

interface ChargeRequest {
  readonly amount: string;
  readonly currency: string;
  readonly recipient: string;
  readonly methodDetails?: { readonly chainId?: number };
}

const requestOf = ({ request }: Challenge.Challenge) => request as unknown as ChargeRequest;

const [prepare, phases] = tempoMainnet.prepareTransactionRequest;

/**
 * The sandbox's chain is of a hardfork whose expiring transactions all have the nonce 0 (before TIP-1106). Newer viem
 * draws one, unless it is given.
 */
const prepareTransactionRequest: typeof tempoMainnet.prepareTransactionRequest = [
  (request, options) =>
    prepare({ ...request, ...('nonceKey' in request && request.nonceKey === 'expiring' ? { nonce: 0 } : {}) }, options),
  phases,
];

/** The client's way to pay by `tempo`, with the sandbox's wallet. */
export function tempoMethods({
  rpcUrl,
  chainId,
  privateKey,
}: NonNullable<SandboxState['tempo']>): ReturnType<typeof tempo> {
  const chain = { ...tempoMainnet, prepareTransactionRequest, id: chainId };
  const client = createClient({ chain, transport: http(rpcUrl), pollingInterval: 100 });
  return tempo({ account: privateKeyToAccount(privateKey), mode: 'pull', getClient: () => client });
}

/** The same by `evm`, on one network. */
export const evmMethod = ({
  privateKey,
  name,
  version,
  decimals,
}: SandboxState['evm'][string]): ReturnType<typeof evm> =>
  evm({ account: privateKeyToAccount(privateKey), authorization: { name, version }, decimals });

/** Pays on the network that `network` names, or by the method; the first challenge decides where nothing is asked for. */
export function openPayer(sandbox: SandboxState, network: string | undefined): Payer {
  const evmNetworkOf = (challenge: Challenge.Challenge) => {
    const { chainId } = requestOf(challenge).methodDetails ?? {};
    return Object.entries(sandbox.evm).find(([, access]) => access.chainId === chainId);
  };
  /** `tempo`, or the network's id. */
  const nameOf = (challenge: Challenge.Challenge): string =>
    challenge.method === 'evm' ? (evmNetworkOf(challenge)?.[0] ?? challenge.method) : challenge.method;

  const walletFor = (challenge: Challenge.Challenge) => {
    const { tempo: tempoAccess } = sandbox;
    if (challenge.method === 'tempo' && tempoAccess) {
      return Mppx.create({ polyfill: false, methods: [tempoMethods(tempoAccess)] });
    }
    const [, access] = evmNetworkOf(challenge) ?? [];
    if (challenge.method === 'evm' && access) {
      return Mppx.create({ polyfill: false, methods: [evmMethod(access)] });
    }
    throw new PayProblem(`the sandbox has no wallet for the payment method ${challenge.method}`);
  };

  const chosenOf = (unpaid: Response) => {
    if (!unpaid.headers.has('www-authenticate')) {
      throw new PayProblem('this path is not sold over MPP, nothing was paid: those that are begin with /mpp');
    }
    const challenges = Challenge.fromResponseList(unpaid);
    const chosen = challenges.find(
      (challenge) => network === undefined || [challenge.method, nameOf(challenge)].includes(network),
    );
    const names = challenges.map(nameOf);
    if (!chosen)
      throw new PayProblem(`--network ${network} does not pay this path over MPP: take ${names.join(' or ')}`);
    return { chosen, methods: challenges.map(({ method }) => method) };
  };

  return {
    offer(unpaid) {
      const { chosen, methods } = chosenOf(unpaid);
      const { amount, currency, recipient, methodDetails } = requestOf(chosen);
      return {
        amount: worthOn(sandbox, `eip155:${methodDetails?.chainId}`, amount),
        payable: methods,
        payment: `${amount} base units of ${currency} to ${recipient} by ${chosen.method}`,
      };
    },
    async sign(unpaid) {
      return { authorization: await walletFor(chosenOf(unpaid).chosen).createCredential(unpaid) };
    },
    receipt(answer) {
      const { reference, method } = Receipt.fromResponse(answer);
      return `transaction ${reference} by ${method}`;
    },
  };
}
