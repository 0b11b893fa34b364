/** The contract of x402's `batch-settlement`, as those see it who call it and read its events. */
import t from 'tap';
import { readArtifact } from '../../../src/sandbox/chains/contract.ts';
import { settlementAbi } from './batch-settlement-scene.ts';
import { selectorsOf } from './chain-scene.ts';

/** Selectors and topics of x402BatchSettlement, and of its collectors. */
const PUBLISHED = {
  deposit: '0x140f1e75',
  claim: '0x29237b0c',
  claimWithSignature: '0xe43ce1f2',
  settle: '0x9db32a8f',
  initiateWithdraw: '0xcf5cf3dc',
  finalizeWithdraw: '0xe88377b1',
  refund: '0xdce4bfae',
  refundWithSignature: '0xb77433e9',
  channels: '0x7a7ebd7b',
  pendingWithdrawals: '0xb7f06ebe',
  refundNonce: '0xf0dc792e',
  receivers: '0x21ff6389',
  getChannelId: '0x5e5e0b87',
  multicall: '0xac9650d8',
  ChannelCreated: '0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa',
  ChannelClosed: '0x8d5942f197f362dfd44dfdc1b0b7a9721c9151b67f55817c83349271d3c08d37',
  Deposited: '0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89',
  Claimed: '0x36bd546bb573e8921fdbfd934bbed62d872796b01792cd240cce27f79dd3eddd',
  Settled: '0x7337b4386b690fdb8ba66905b92b9d45d33bc6626ee2620c905fb150ec0cc47d',
  Refunded: '0xa84286cf8ebc7903a663c77c8d99aa92b600d4c2fcca872a5d4a663db4eb394b',
  WithdrawInitiated: '0xe4280d0d903c7f258f62b07c62f262377cbaa23f7791d78126e6446e0f0e3c23',
  WithdrawFinalized: '0x546ce1e2242cd930c196bd08b894443562d709b4fffe4f028a75a6d233efc6e3',
  InvalidChannel: '0xea3a9a39',
  ZeroDeposit: '0x56316e87',
  DepositOverflow: '0x1132981b',
  InvalidSignature: '0x8baa579f',
  NotReceiverAuthorizer: '0xf5e2237d',
  NotAuthorizedToClaim: '0xdefb7069',
  NotAuthorizedToRefund: '0x7864f008',
  ClaimExceedsCeiling: '0xf1789775',
  ClaimExceedsBalance: '0x7d8242b6',
  WithdrawalAlreadyPending: '0xa2aed0f0',
  WithdrawalNotPending: '0x3a0a1ca6',
  NotAuthorizedToFinalizeWithdraw: '0x15f969d5',
  WithdrawDelayNotElapsed: '0xf3965827',
  NothingToWithdraw: '0xd0d04f60',
  WithdrawAmountExceedsAvailable: '0x6d3d5764',
  WithdrawDelayOutOfRange: '0x4574fab6',
  EmptyBatch: '0xc2e5347d',
  DepositCollectionFailed: '0xeb43592c',
  InvalidCollector: '0x18b1afd4',
  InvalidRefundNonce: '0x164f1afe',
  ZeroRefund: '0xd758525c',
  ReentrancyGuardReentrantCall: '0x3ee5aeb5',
};

t.test('it is called, answers and fails as the published contract does', async (t) => {
  t.same(selectorsOf(settlementAbi), PUBLISHED);
});

t.test('its collector is called and fails as the published one does', async (t) => {
  const { abi } = readArtifact(new URL('../../../src/sandbox/chains/Eip3009DepositCollector.json', import.meta.url));
  t.match(selectorsOf(abi), { collect: '0xe416d8d3', OnlySettlement: '0x15b31976' });
});

t.end();
