import type { NetworkRow } from '../figures.ts';
import { urlOf } from './api.ts';
import { money } from './parts/columns.ts';
import { Copyable } from './parts/copyable.tsx';
import { coinsOf, roughly } from './parts/format.ts';
import { Loaded } from './parts/loaded.tsx';
import { usePolled } from './parts/polled.ts';
import { Badge } from './parts/state.tsx';
import { type Column, Table } from './parts/table.tsx';

const stateOf = ({ payTo, facilitator, signer }: NetworkRow): string => {
  if (payTo === undefined) return 'Not offered';
  if (facilitator === undefined && signer === undefined) return 'Nothing settles';
  return signer?.isLow ? 'Gas is low' : 'Payable';
};

function NetworkState({ network }: { network: NetworkRow }) {
  const state = stateOf(network);
  const hint = {
    'Not offered': 'No pay-to address is configured for it.',
    'Nothing settles': 'Its facilitator is down or does not settle there. It is asked again by itself.',
    'Gas is low': `Send ${network.signer?.coin} to the signer's address.`,
  }[state];
  const tone =
    state === 'Payable' ? 'good' : state === 'Not offered' ? 'plain' : state === 'Gas is low' ? 'warn' : 'bad';
  const shape = { good: 'check', plain: 'ring', warn: 'warning', bad: 'cross' } as const;
  return (
    <>
      <Badge tone={tone} shape={shape[tone]}>
        {state}
      </Badge>
      {hint && <p class="hint">{hint}</p>}
    </>
  );
}

const columns: Column<NetworkRow>[] = [
  {
    title: 'Network',
    text: ({ id }) => id,
    order: ({ id }) => id,
    cell: ({ id, caip2 }) => (
      <>
        {id}
        <p class="hint wide">{caip2}</p>
      </>
    ),
  },
  {
    title: 'State',
    text: stateOf,
    cell: (network) => <NetworkState network={network} />,
    order: stateOf,
  },
  {
    title: 'Paid to',
    text: ({ payTo }) => payTo ?? '',
    cell: ({ id, payTo }) => (payTo === undefined ? '–' : <Copyable text={payTo} what={`pay-to address on ${id}`} />),
    isWide: true,
  },
  { title: 'Facilitator', text: ({ facilitator }) => facilitator ?? '–', isWide: true },
  {
    title: 'Signer',
    text: ({ signer }) => signer?.address ?? '',
    cell: ({ id, signer }) => (signer ? <Copyable text={signer.address} what={`signer on ${id}`} /> : '–'),
    isWide: true,
  },
  {
    title: 'Gas left',
    text: ({ signer }) => (signer ? `${signer.balance} ${signer.coin}` : ''),
    cell: ({ signer }) => (signer ? coinsOf(signer.balance, signer.coin) : '–'),
    isNumber: true,
  },
  money('To claim', ({ unclaimed }) => unclaimed, {
    cell: ({ unclaimed }) => (Number(unclaimed) === 0 ? '–' : roughly(unclaimed)),
  }),
];

/** Where payments settle, and by whom. */
export function Networks() {
  const polled = usePolled<readonly NetworkRow[]>('networks', () => urlOf('networks'));
  return (
    <>
      <header class="page-head">
        <h1>Networks</h1>
      </header>
      <Loaded of={polled}>
        {(networks) => (
          <Table
            title="Where payments settle"
            name="networks"
            columns={columns}
            rows={networks}
            keyOf={({ id }) => id}
            empty={
              <>
                The catalogue names no network. Add one to <code>catalogue/networks.yaml</code>.
              </>
            }
          />
        )}
      </Loaded>
    </>
  );
}
