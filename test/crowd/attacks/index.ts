import type { Attack } from '../attack.ts';
import { cancelledAuthorization } from './cancelled-authorization.ts';
import { contractWallet } from './contract-wallet.ts';
import { denseText } from './dense-text.ts';
import { gasWallet } from './gas-wallet.ts';
import { growth } from './growth.ts';
import { heldTurns } from './held-turns.ts';
import { invalidatedPermits } from './invalidated-permits.ts';
import { keyDeadline } from './key-deadline.ts';
import { keyLeavesEarly } from './key-leaves-early.ts';
import { keyLeavesThinking } from './key-leaves-thinking.ts';
import { lighthouse } from './lighthouse.ts';
import { movedAway } from './moved-away.ts';
import { oneBalance } from './one-balance.ts';
import { resentTooShort } from './resent-too-short.ts';
import { settledLate } from './settled-late.ts';
import { slowFiles } from './slow-files.ts';
import { timeouts } from './timeouts.ts';
import { twoSpellings } from './two-spellings.ts';

export const attacks: readonly Attack[] = [
  contractWallet,
  oneBalance,
  invalidatedPermits,
  movedAway('chain-c'),
  movedAway('chain-a'),
  movedAway('chain-c', 2),
  cancelledAuthorization,
  keyDeadline,
  keyLeavesEarly,
  keyLeavesThinking,
  denseText,
  lighthouse,
  gasWallet,
  timeouts,
  heldTurns,
  growth,
  resentTooShort,
  settledLate,
  twoSpellings,
  slowFiles,
];
