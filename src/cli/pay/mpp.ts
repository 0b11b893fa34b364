/** The sandbox's funded wallet, as mppx's unmodified client. */
import { Challenge, Receipt } from 'mppx';
import { evm, Mppx, tempo } from 'mppx/client';
import { createClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { type Payer, PayProblem, type SandboxState } from './payer.ts';

interface ChargeRequest {
  readonly amount: string;
  readonly currency: string;
  readonly recipient: string;
}

/** The EIP-712 domain of the sandbox's USDC on Base Sepolia. */
const EVM_DOMAIN = { name: 'USDC', version: '2' };
const EVM_NETWORK = 'chain-c';

/** `tempo`, or `evm` for `chain-c`; both where nothing is asked for, and the first challenge decides. */
function methodNamed(network: string | undefined): 'tempo' | 'evm' | undefined {
  if (network === undefined || network === 'tempo') return network;
  if (network === EVM_NETWORK || network === 'evm') return 'evm';
  throw new PayProblem(`--network ${network} is not paid over MPP: take tempo or ${EVM_NETWORK}`);
}

export function openMppPayer(sandbox: SandboxState, network: string | undefined): Payer {
  const wanted = methodNamed(network);
  const access = sandbox.evm[EVM_NETWORK];
  const { tempo: tempoAccess } = sandbox;

  const walletFor = (method: string) => {
    if (method === 'tempo' && tempoAccess) {
      const chain = { ...tempoMainnet, id: tempoAccess.chainId };
      const client = createClient({ chain, transport: http(tempoAccess.rpcUrl), pollingInterval: 100 });
      const account = privateKeyToAccount(tempoAccess.privateKey);
      return Mppx.create({ polyfill: false, methods: [tempo({ account, mode: 'pull', getClient: () => client })] });
    }
    if (method === 'evm' && access) {
      const account = privateKeyToAccount(access.privateKey);
      return Mppx.create({
        polyfill: false,
        methods: [evm({ account, authorization: EVM_DOMAIN, decimals: access.decimals })],
      });
    }
    throw new PayProblem(`the sandbox has no wallet for the payment method ${method}`);
  };

  const chosenOf = (unpaid: Response) => {
    const challenges = Challenge.fromResponseList(unpaid);
    const chosen = challenges.find(({ method }) => wanted === undefined || method === wanted);
    const methods = challenges.map(({ method }) => method);
    if (!chosen) throw new PayProblem(`this path is paid with ${methods.join(', ')}, not with ${wanted}`);
    return { chosen, methods };
  };

  return {
    offer(unpaid) {
      const { chosen, methods } = chosenOf(unpaid);
      const { amount, currency, recipient } = chosen.request as unknown as ChargeRequest;
      return {
        amount: BigInt(amount),
        payable: methods,
        payment: `${amount} base units of ${currency} to ${recipient} by ${chosen.method}`,
      };
    },
    async sign(unpaid) {
      return { authorization: await walletFor(chosenOf(unpaid).chosen.method).createCredential(unpaid) };
    },
    receipt(answer) {
      const { reference, method } = Receipt.fromResponse(answer);
      return `transaction ${reference} by ${method}`;
    },
  };
}
