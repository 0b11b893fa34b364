/** Solana's JSON-RPC over a ledger in memory: the methods that x402 clients, facilitators and our queries call. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Address } from '@solana/kit';
import { encodeBase58 } from '../../on-chain/base58.ts';
import { type LedgerTransaction, type SolanaLedger, type TokenBalance, TransactionRefused } from './solana-ledger.ts';
import { readTokenAccount, TOKEN_ACCOUNT_BYTES, TOKEN_PROGRAM } from './spl.ts';

type Params = readonly unknown[];
type Options = Readonly<Record<string, unknown>>;
type Method = (params: Params) => unknown;

class RpcProblem extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const INVALID_PARAMS = -32602;
const PREFLIGHT_FAILURE = -32002;
const SIGNATURE_FAILURE = -32003;
const MOST_BYTES = 256 * 1024;
const LAMPORTS_PER_SIGNATURE = 5_000;
const SYSVARS = 'Sysvar1111111111111111111111111111111111111';
const RECENT_BLOCKHASHES = 'SysvarRecentB1ockHashes11111111111111111111';
const BLOCKHASH_ENTRY_BYTES = 40;

/** CAIP-2 names a Solana network by the first 32 characters of its genesis hash. */
const GENESIS: Readonly<Record<string, string>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
};

const text = (value: unknown, what: string): string => {
  if (typeof value === 'string') return value;
  throw new RpcProblem(INVALID_PARAMS, `Invalid params: ${what} must be a string`);
};

const optionsOf = (value: unknown): Options => (typeof value === 'object' && value !== null ? { ...value } : {});

function wireOf(value: unknown, options: Options): Buffer {
  if (options.encoding !== 'base64') throw new RpcProblem(INVALID_PARAMS, 'transactions are taken in base64 here');
  return Buffer.from(text(value, 'the transaction'), 'base64');
}

const uiAmount = (amount: bigint, decimals: number) => ({
  amount: amount.toString(),
  decimals,
  uiAmount: Number(amount) / 10 ** decimals,
  uiAmountString: String(Number(amount) / 10 ** decimals),
});

function methodsOf(ledger: SolanaLedger, caip2: string, decimals: number): Readonly<Record<string, Method>> {
  const context = () => ({ apiVersion: '2.0.0', slot: ledger.slot() });
  const inContext = (value: unknown) => ({ context: context(), value });

  const parsedTokenAccount = (data: Uint8Array) => {
    const { mint, owner, amount } = readTokenAccount(data);
    const tokenAmount = uiAmount(amount, decimals);
    const info = {
      isNative: false,
      mint: encodeBase58(mint),
      owner: encodeBase58(owner),
      state: 'initialized',
      tokenAmount,
    };
    return { program: 'spl-token', space: data.length, parsed: { type: 'account', info } };
  };

  /** The sysvar as bincode has it: a count, and with each hash what a signature costs. */
  const recentBlockhashes = () => {
    const entries = ledger.recentBlockhashes().map((hash) => {
      const entry = Buffer.alloc(BLOCKHASH_ENTRY_BYTES);
      hash.copy(entry);
      entry.writeBigUInt64LE(BigInt(LAMPORTS_PER_SIGNATURE), hash.length);
      return entry;
    });
    const count = Buffer.alloc(8);
    count.writeBigUInt64LE(BigInt(entries.length));
    return { lamports: 1n, owner: SYSVARS, data: Buffer.concat([count, ...entries]), executable: false };
  };

  const accountOf = (at: string, options: Options) => {
    const found = at === RECENT_BLOCKHASHES ? recentBlockhashes() : ledger.account(at);
    if (!found) return null;
    const { lamports, owner, data, executable } = found;
    const isTokenAccount = owner === TOKEN_PROGRAM && data.length === TOKEN_ACCOUNT_BYTES;
    const shown =
      options.encoding === 'jsonParsed' && isTokenAccount
        ? parsedTokenAccount(data)
        : [Buffer.from(data).toString('base64'), 'base64'];
    return { data: shown, executable, lamports: Number(lamports), owner, rentEpoch: 0, space: data.length };
  };

  const statusOf = (found: LedgerTransaction | undefined) =>
    found && {
      slot: found.slot,
      confirmations: null,
      confirmationStatus: 'finalized',
      err: found.error,
      status: found.error ? { Err: found.error } : { Ok: null },
    };

  const tokenBalanceOf = ({ amount, ...account }: TokenBalance) => ({
    ...account,
    programId: TOKEN_PROGRAM,
    uiTokenAmount: uiAmount(amount, decimals),
  });

  const transactionOf = (found: LedgerTransaction | undefined, options: Options) => {
    if (!found) return null;
    if (options.encoding !== 'base64') throw new RpcProblem(INVALID_PARAMS, 'transactions are given in base64 here');
    const { slot, blockTime, wire, error, logs, unitsConsumed, tokens } = found;
    const meta = {
      err: error,
      status: error ? { Err: error } : { Ok: null },
      fee: LAMPORTS_PER_SIGNATURE * (wire[0] ?? 0),
      logMessages: logs,
      computeUnitsConsumed: unitsConsumed,
      preTokenBalances: tokens.pre.map(tokenBalanceOf),
      postTokenBalances: tokens.post.map(tokenBalanceOf),
      loadedAddresses: { readonly: [], writable: [] },
    };
    return { slot, blockTime, meta, transaction: [wire.toString('base64'), 'base64'], version: 0 };
  };

  const signaturesOf = (at: string, options: Options) => {
    const rows = ledger.transactionsOf(at);
    const after = rows.findIndex(({ signature }) => signature === options.before) + 1;
    return rows.slice(after, after + Number(options.limit ?? 1_000)).map(({ signature, slot, error, blockTime }) => ({
      signature,
      slot,
      err: error,
      memo: null,
      blockTime,
      confirmationStatus: 'finalized',
    }));
  };

  const simulate = (params: Params) => {
    const options = optionsOf(params[1]);
    const replaceBlockhash = options.replaceRecentBlockhash === true;
    const wire = wireOf(params[0], options);
    const result = ledger.simulate(wire, { sigVerify: options.sigVerify === true, replaceBlockhash });
    const { error, logs, unitsConsumed } = result;
    const { addresses } = optionsOf(options.accounts);
    const after = (at: string) => {
      const found = accountOf(at, { encoding: 'base64' });
      const lamports = result.lamportsAfter(at);
      return found && lamports !== undefined ? { ...found, lamports: Number(lamports) } : found;
    };
    const accounts = Array.isArray(addresses) && !error ? addresses.map((at) => after(String(at))) : null;
    const replacement = replaceBlockhash ? { replacementBlockhash: ledger.latestBlockhash() } : {};
    return inContext({ err: error, logs, unitsConsumed, accounts, returnData: null, ...replacement });
  };

  const tokenBalance = (at: string) => {
    const found = ledger.account(at);
    if (found?.data.length !== TOKEN_ACCOUNT_BYTES) {
      throw new RpcProblem(INVALID_PARAMS, 'Invalid param: could not find account');
    }
    return inContext(uiAmount(readTokenAccount(found.data).amount, decimals));
  };

  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': '2.0.0', 'feature-set': 0 }),
    getGenesisHash: () => {
      const reference = caip2.replace(/^solana:/, '');
      return GENESIS[reference] ?? reference;
    },
    getSlot: () => ledger.slot(),
    getBlockHeight: () => ledger.slot(),
    getLatestBlockhash: () => inContext(ledger.latestBlockhash()),
    isBlockhashValid: ([blockhash, options]) => {
      const isFinal = optionsOf(options).commitment === 'finalized';
      return inContext(ledger.isBlockhashValid(text(blockhash, 'the blockhash'), isFinal));
    },
    getBalance: ([at]) => inContext(Number(ledger.account(text(at, 'the address'))?.lamports ?? 0n)),
    getAccountInfo: ([at, options]) => inContext(accountOf(text(at, 'the address'), optionsOf(options))),
    getMultipleAccounts: ([list, options]) => {
      if (!Array.isArray(list)) throw new RpcProblem(INVALID_PARAMS, 'Invalid params: the addresses must be a list');
      return inContext(list.map((at) => accountOf(text(at, 'an address'), optionsOf(options))));
    },
    /** Surfpool's method, for tests: owner and data in hex. */
    surfnet_setAccount: ([at, update]) => {
      const { owner, data } = optionsOf(update);
      const bytes = Buffer.from(text(data, 'the data'), 'hex');
      ledger.put(text(at, 'the address') as Address, text(owner, 'the owner') as Address, bytes);
      return inContext(null);
    },
    getTokenAccountBalance: ([at]) => tokenBalance(text(at, 'the address')),
    getMinimumBalanceForRentExemption: ([size]) => (Number(size) + 128) * 6_960,
    getFeeForMessage: () => inContext(LAMPORTS_PER_SIGNATURE),
    simulateTransaction: simulate,
    sendTransaction: ([transaction, options]) =>
      ledger.send(wireOf(transaction, optionsOf(options)), { preflight: optionsOf(options).skipPreflight !== true }),
    getSignatureStatuses: ([list]) => {
      if (!Array.isArray(list)) throw new RpcProblem(INVALID_PARAMS, 'Invalid params: the signatures must be a list');
      return inContext(list.map((signature) => statusOf(ledger.transaction(String(signature))) ?? null));
    },
    getTransaction: ([signature, options]) =>
      transactionOf(ledger.transaction(text(signature, 'the signature')), optionsOf(options)),
    getSignaturesForAddress: ([at, options]) => signaturesOf(text(at, 'the address'), optionsOf(options)),
  };
}

/** Errors as a node tells them: those of the runtime come with the transaction error in `data`. */
function problemOf(error: unknown): RpcProblem {
  if (error instanceof RpcProblem) return error;
  if (error instanceof TransactionRefused) {
    return new RpcProblem(PREFLIGHT_FAILURE, error.message, { err: error.error, logs: error.logs });
  }
  const message = error instanceof Error ? error.message : 'Internal error';
  return /signature/i.test(message)
    ? new RpcProblem(SIGNATURE_FAILURE, 'Transaction signature verification failure')
    : new RpcProblem(INVALID_PARAMS, message);
}

function answer(methods: Readonly<Record<string, Method>>, message: unknown): object {
  const { id, method, params } = optionsOf(message);
  const run = methods[String(method)];
  try {
    if (!run) throw new RpcProblem(-32601, `Method not found: the sandbox does not do ${String(method)}`);
    return { jsonrpc: '2.0', id, result: run(Array.isArray(params) ? params : []) };
  } catch (thrown) {
    const { code, message: text, data } = problemOf(thrown);
    return { jsonrpc: '2.0', id, error: { code, message: text, ...(data ? { data } : {}) } };
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** The server, not listening yet. `decimals` are those of the ledger's one mint. */
export function createSolanaRpcServer(ledger: SolanaLedger, caip2: string, decimals: number): Server {
  const methods = methodsOf(ledger, caip2, decimals);
  return createServer((request, response) => {
    readBody(request).then(
      (body) => {
        const result = Array.isArray(body) ? body.map((message) => answer(methods, message)) : answer(methods, body);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(result));
      },
      () => {
        response.statusCode = 400;
        response.end();
      },
    );
  });
}
