/** Compiles the contracts of this folder: `npx tsx src/sandbox/chains/compile.ts` writes their artifacts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export const CONTRACTS = [
  'Eip3009Token',
  'UptoPermit2Proxy',
  'AuthCaptureEscrow',
  'Eip3009Collector',
  'BatchSettlement',
  'Eip3009DepositCollector',
] as const;
type ContractName = (typeof CONTRACTS)[number];

const COMMAND = 'npx tsx src/sandbox/chains/compile.ts';
const fileOf = (name: ContractName, extension: string): URL => new URL(`./${name}.${extension}`, import.meta.url);
/** What a contract imports is beside it. */
const imported = (file: string) => ({ contents: readFileSync(new URL(file, import.meta.url), 'utf8') });

interface Compiler {
  compile(input: string, callbacks: { import: typeof imported }): string;
  version(): string;
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: {
    readonly [file: string]: {
      readonly [name: string]: {
        readonly abi: readonly unknown[];
        readonly evm: { readonly deployedBytecode: { readonly object: string } };
      };
    };
  };
}

/** The artifact of one contract as the text of its file. Throws with the compiler's messages. */
export const compile = (name: ContractName): string => compileSource(name, readFileSync(fileOf(name, 'sol'), 'utf8'));

/** The same of any Solidity, whose contract has this name. */
export function compileSource(name: string, content: string): string {
  const solc: Compiler = createRequire(import.meta.url)('solc');
  const input = {
    language: 'Solidity',
    sources: { [name]: { content } },
    settings: {
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: 'none' },
      outputSelection: { [name]: { [name]: ['abi', 'evm.deployedBytecode.object'] } },
    },
  };
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input), { import: imported }));
  const errors = output.errors?.filter(({ severity }) => severity === 'error') ?? [];
  const contract = output.contracts[name]?.[name];
  if (errors.length > 0 || !contract) {
    throw new Error(`${name}.sol does not compile:\n${errors.map((error) => error.formattedMessage).join('\n')}`);
  }
  const artifact = {
    note: `Made by ${COMMAND} from ${name}.sol: edit that instead`,
    compiler: solc.version(),
    deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
    abi: contract.abi,
  };
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of CONTRACTS) writeFileSync(fileOf(name, 'json'), compile(name));
}
