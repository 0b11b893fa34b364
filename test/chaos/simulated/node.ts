/** The chain's node: the calls of Ethereum JSON-RPC that gateways make. */
import { quantity, TRANSFER, word } from '../../../src/payment/chains/evm-logs.ts';
import type { Chain, Transfer } from './chain.ts';

/** The places of `src/payment/authorizations` where these come from say what they are. */
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const BALANCE_OF = '0x70a08231';
const AUTHORIZATION_STATE = '0xe94a0102';
const NONCE_BITMAP = '0x4fe02b44';
const DECIMALS = '0x313ce567';
const UPTO_PROXY = '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002';

type Json = Readonly<Record<string, unknown>>;

const inWord = (hex: string): string => `0x${word(hex)}`;
const number = (value: bigint): string => inWord(value.toString(16));

/** The result of one call. Throws for a method that no gateway should need. */
export function answerRpc(chain: Chain, method: string, params: readonly unknown[]): unknown {
  switch (method) {
    case 'eth_chainId':
      return quantity(Number(chain.name.replace('eip155:', '')));
    case 'eth_blockNumber':
      return quantity(chain.block());
    case 'eth_getBlockByNumber': {
      const block = params[0] === 'latest' ? chain.block() : Number(params[0]);
      return { number: quantity(block), timestamp: quantity(chain.timestampOf(block)) };
    }
    case 'eth_getCode':
      return chain.contracts.has(String(params[0]).toLowerCase()) ? '0x60006000' : '0x';
    case 'eth_call':
      return call(chain, String((params[0] as Json).data), params[1]);
    case 'eth_getLogs':
      return logs(chain, params[0] as Json);
    case 'eth_getTransactionReceipt': {
      const transfer = chain.transfers.find(({ transaction }) => transaction === params[0]);
      return transfer ? { status: '0x1', blockNumber: quantity(transfer.block), logs: logsOf(chain, transfer) } : null;
    }
    case 'eth_getTransactionByHash': {
      const transfer = chain.transfers.find(({ transaction }) => transaction === params[0]);
      return transfer ? { to: transfer.kind === 'permit2' ? UPTO_PROXY : chain.asset, input: transfer.input } : null;
    }
    default:
      throw new Error(`the node does not know ${method}`);
  }
}

function call(chain: Chain, data: string, at: unknown): string {
  const [selector, first, second] = [data.slice(0, 10), data.slice(10, 74), data.slice(74, 138)];
  const address = `0x${first.slice(24)}`;
  const isUsed = (kind: Transfer['kind'], nonce: string): boolean => {
    const transfer = chain.find(kind, address, nonce);
    return transfer !== undefined && (at === 'latest' || transfer.block <= Number(at));
  };
  switch (selector) {
    case BALANCE_OF:
      return number(chain.balance(address));
    case DECIMALS:
      return number(6n);
    case AUTHORIZATION_STATE:
      return number(isUsed('eip3009', `0x${second}`) ? 1n : 0n);
    case NONCE_BITMAP: {
      const place = BigInt(`0x${second}`) << 8n;
      let bits = 0n;
      for (let bit = 0n; bit < 256n; bit += 1n) {
        if (isUsed('permit2', (place + bit).toString())) bits |= 1n << bit;
      }
      return number(bits);
    }
    default:
      throw new Error(`no contract here has ${selector}`);
  }
}

function logsOf(
  { asset }: Chain,
  { kind, payer, payTo, nonce, moved, block, logIndex, transaction }: Transfer,
): Json[] {
  const common = { address: asset, blockNumber: quantity(block), transactionHash: transaction };
  const use = {
    ...common,
    logIndex: quantity(logIndex - 1),
    topics: [AUTHORIZATION_USED, inWord(payer), nonce],
    data: '0x',
  };
  const transfer = {
    ...common,
    logIndex: quantity(logIndex),
    topics: [TRANSFER, inWord(payer), inWord(payTo)],
    data: number(moved),
  };
  return kind === 'eip3009' ? [use, transfer] : [transfer];
}

function logs(chain: Chain, { topics, fromBlock, toBlock }: Json): Json[] {
  const wanted = topics as readonly (string | readonly string[] | null)[];
  const fits = ({ topics: own }: Json) =>
    wanted.every((topic, place) => {
      const found = (own as readonly string[])[place]?.toLowerCase() ?? '';
      return topic === null || [topic].flat().some((each) => each.toLowerCase() === found);
    });
  return chain.transfers
    .filter(({ block }) => block >= Number(fromBlock) && block <= Number(toBlock))
    .flatMap((transfer) => logsOf(chain, transfer))
    .filter(fits);
}
