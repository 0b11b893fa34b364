import type { RailDeclaration } from '../../catalogue/rails.ts';

/** Sells every endpoint, and its mirrors. */
export const x402Declaration: RailDeclaration = { name: 'x402', title: 'x402' };
