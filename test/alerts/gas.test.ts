/** A chain that does not answer says nothing of the account that pays for settling there. */
import t from 'tap';
import { openAlerts } from '../../src/alerts/alerts.ts';
import type { GasAccount } from '../../src/payment/facilitators/facilitator.ts';
import { quietParts } from './quiet-parts.ts';

t.test('a signer that has little left is told once, also where its chain is silent for hours in between', async (t) => {
  let time = Date.UTC(2026, 10, 22);
  const parts = quietParts(t, () => time, { gasBelow: 10 });
  const account = (lasts: bigint): GasAccount => ({ address: '0xabc', balance: lasts, decimals: 18, lasts });
  let accounts = new Map<string, GasAccount>();
  const alerts = await openAlerts({
    ...parts,
    idOf: (network) => (network === 'eip155:1' ? 'chain-x' : network),
    facilitators: () => new Map([['chain-x', true]]),
    gas: async () => accounts,
  });
  const [watch] = alerts.tasks;
  const after = async (minutes: number, seen: Map<string, GasAccount>) => {
    time += minutes * 60_000;
    accounts = seen;
    await watch?.[1]();
    const written = await parts.store.alerts.list({ limit: 10 });
    return written.map(({ type, createdAt }) => `${type} ${new Date(createdAt).toISOString().slice(11, 16)}`);
  };
  const low = new Map([['eip155:1', account(3n)]]);
  t.same(await after(1, new Map()), [], 'a chain that never answered tells of no account');
  t.same(await after(1, low), ['signer.gas-low 00:02']);
  t.same(await after(60, new Map()), ['signer.gas-low 00:02']);
  t.same(await after(60, low), ['signer.gas-low 00:02'], 'it is as low as before');
  t.same(await after(1, new Map([['eip155:1', account(50n)]])), ['signer.gas-low 00:02']);
  t.same(await after(1, low), ['signer.gas-low 02:04', 'signer.gas-low 00:02'], 'low again after it had enough');
});
