import type { VariableReader } from '../../environment.ts';
import { addressFault, isEvmAddress, isNobodys } from '../../on-chain/address.ts';
import type { Secrets } from './challenge.ts';
import type { TempoOptions } from './tempo.ts';

export interface MppConfig {
  readonly secrets: Secrets;
  /** Undefined: the public host name. */
  readonly realm: string | undefined;
  readonly tempo: TempoOptions | undefined;
  /** The key that gives back what was paid on Tempo: into no log or error with it. */
  readonly refundSigner: string | undefined;
}

export function readMppConfig(read: VariableReader): MppConfig {
  const { problems, optional } = read;
  const secrets = (optional('TURNPIKE_MPP_SECRET') ?? '').split(',').map((secret) => secret.trim());
  const [current = '', ...old] = secrets;
  if (secrets.some((secret) => Buffer.byteLength(secret) < 32)) {
    problems.push(
      'TURNPIKE_MPP_SECRET must be a secret of 32 bytes or more (old ones may follow, after commas): try `openssl rand -hex 32`',
    );
  }
  const realm = optional('TURNPIKE_MPP_REALM');
  if (realm && /["|\\]/.test(realm)) problems.push('TURNPIKE_MPP_REALM must not contain a quote, a backslash or |');
  return {
    secrets: [current, ...old],
    realm,
    tempo: readTempo(read),
    refundSigner: read.privateKey('TURNPIKE_REFUND_SIGNER_EVM', 'evm'),
  };
}

function readTempo({ problems, optional, url }: VariableReader): TempoOptions | undefined {
  const address = (name: string) => {
    const value = optional(name);
    const fault = value === undefined ? undefined : addressFault('evm', value);
    if (fault) problems.push(`${name} ${fault}`);
    return value !== undefined && isEvmAddress(value) ? value : undefined;
  };
  const rpcUrl = url('TURNPIKE_TEMPO_RPC_URL');
  const currency = address('TURNPIKE_TEMPO_CURRENCY');
  const recipient = address('TURNPIKE_TEMPO_RECIPIENT');
  const chainId = Number(optional('TURNPIKE_TEMPO_CHAIN_ID') ?? '4217');
  if (!Number.isSafeInteger(chainId) || chainId < 1) {
    problems.push('TURNPIKE_TEMPO_CHAIN_ID must be a whole number from 1');
  }
  if (recipient && (isNobodys(recipient) || recipient.toLowerCase() === currency?.toLowerCase())) {
    const whose = isNobodys(recipient) ? "nobody's address" : 'the address of TURNPIKE_TEMPO_CURRENCY itself';
    problems.push(
      `TURNPIKE_TEMPO_RECIPIENT is ${whose}, where nobody has what is paid: give that of an account of yours`,
    );
  }
  if (rpcUrl && currency && recipient) return { rpcUrl, chainId, currency, recipient };
  if (rpcUrl ?? currency ?? recipient) {
    problems.push(
      'TURNPIKE_TEMPO_RPC_URL, TURNPIKE_TEMPO_CURRENCY and TURNPIKE_TEMPO_RECIPIENT belong together: set all three or none',
    );
  }
  return undefined;
}
