/** The ways to pay that there are. */
import type { RailDeclaration } from '../catalogue/rails.ts';
import { mppDeclaration } from './mpp/declaration.ts';
import { x402Declaration } from './x402/declaration.ts';

export const rails: readonly RailDeclaration[] = [x402Declaration, mppDeclaration];
