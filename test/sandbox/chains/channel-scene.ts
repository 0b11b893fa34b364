/** The contracts of `batch-settlement`, where its clients look for them. */
import type { Address } from 'viem';
import { readArtifact } from '../../../src/sandbox/chains/contract.ts';

export const SETTLEMENT: Address = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';
export const COLLECTOR: Address = '0x4020806089470a89826cB9fB1f4059150b550004';
export const { abi } = readArtifact(new URL('../../../src/sandbox/chains/BatchSettlement.json', import.meta.url));
