import { useState } from 'preact/hooks';
import type { KeyPage, KeyRow } from '../../figures.ts';
import { urlOf } from '../api.ts';
import { money } from '../parts/columns.ts';
import { dayOf, dollars, isoOf } from '../parts/format.ts';
import { Loaded } from '../parts/loaded.tsx';
import { usePolled } from '../parts/polled.ts';
import { Badge } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { type KeyChange, KeyDialog } from './key-dialog.tsx';
import { NewKey } from './new-key.tsx';

const stateOf = ({ disabledAt, expiresAt }: KeyRow): string => {
  if (disabledAt !== undefined) return 'Disabled';
  return expiresAt !== undefined && expiresAt <= Date.now() ? 'Expired' : 'Good';
};

const columnsOf = (change: (key: KeyRow, what: KeyChange) => void): Column<KeyRow>[] => [
  {
    title: 'Key',
    text: ({ label }) => label,
    order: ({ label }) => label,
    cell: ({ label, shown }) => (
      <>
        {label}
        <p class="hint">
          <code>{shown}…</code>
        </p>
      </>
    ),
  },
  {
    title: 'State',
    text: stateOf,
    order: stateOf,
    cell: (key) => {
      const state = stateOf(key);
      return (
        <>
          <Badge tone={state === 'Good' ? 'good' : 'plain'} shape={state === 'Good' ? 'check' : 'ring'}>
            {state}
          </Badge>
          {state === 'Good' && key.expiresAt !== undefined && <p class="hint">until {dayOf(key.expiresAt)}</p>}
        </>
      );
    },
  },
  money('Balance', ({ balance }) => balance, { cell: ({ balance }) => dollars(balance) }),
  money('Spent today', ({ spentToday }) => spentToday, { isWide: true }),
  money('Daily limit', ({ dailyLimit }) => dailyLimit ?? '', {
    cell: ({ dailyLimit }) => (dailyLimit === undefined ? 'none' : dollars(dailyLimit)),
    order: ({ dailyLimit }) => Number(dailyLimit ?? Number.POSITIVE_INFINITY),
    isWide: true,
  }),
  {
    title: 'Made',
    text: ({ createdAt }) => isoOf(createdAt),
    cell: ({ createdAt }) => dayOf(createdAt),
    order: ({ createdAt }) => createdAt,
    isWide: true,
  },
  {
    title: 'Change',
    text: ({ id }) => id,
    cell: (key) =>
      key.disabledAt === undefined && (
        <div class="actions">
          {(['Top up', 'Limit', 'Disable'] as const).map((what) => (
            <button
              key={what}
              type="button"
              class="small"
              onClick={() => change(key, what)}
              aria-label={`${what}: ${key.label}, ${key.shown}`}
            >
              {what}
            </button>
          ))}
        </div>
      ),
  },
];

/** API keys with prepaid credits, and what is owed to who holds them. */
export function Keys() {
  const polled = usePolled<KeyPage>('keys', () => urlOf('keys'));
  const [changing, setChanging] = useState<{ key: KeyRow; what: KeyChange }>();
  const [isMaking, setMaking] = useState(false);
  return (
    <>
      <header class="page-head">
        <h1>Keys</h1>
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New key…
        </button>
      </header>
      <Loaded of={polled}>
        {({ keys, liability }) => (
          <>
            <dl class="figures">
              <div class="figure">
                <dt>Liability</dt>
                <dd>
                  <b>{dollars(liability)}</b>
                  <span class="quiet">credits not spent yet</span>
                </dd>
              </div>
            </dl>
            <Table
              title="API keys"
              name="keys"
              columns={columnsOf((key, what) => setChanging({ key, what }))}
              rows={keys}
              keyOf={({ id }) => id}
              empty="There is no key yet. Make one for somebody who pays you beforehand: New key"
            />
          </>
        )}
      </Loaded>
      {isMaking && <NewKey onMade={polled.reload} onClose={() => setMaking(false)} />}
      {changing && (
        <KeyDialog
          apiKey={polled.data?.keys.find(({ id }) => id === changing.key.id) ?? changing.key}
          what={changing.what}
          onChanged={polled.reload}
          onClose={() => setChanging(undefined)}
        />
      )}
    </>
  );
}
