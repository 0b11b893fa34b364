import type { RailDeclaration } from '../catalogue/rails.ts';
import type { RailDocumentParts, RailDocuments } from '../discovery/rail-documents.ts';
import type { VariableReader } from '../environment.ts';
import type { Log } from '../log.ts';
import type { ExposureControl } from '../payment/exposure/control.ts';
import type { PayableNetworks } from '../payment/networks.ts';
import type { Rail } from '../payment/rail.ts';
import type { ChannelStore } from '../store/channels/channel-store.ts';

/** What a rail is opened with. */
export interface RailParts<Config> {
  readonly config: Config;
  /** The rail's block in `service.yaml`; fits its `serviceOptions`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly networks: PayableNetworks;
  readonly exposure: ExposureControl;
  /** Deposits that calls are drawn from. */
  readonly channels: ChannelStore;
  /** Some were made, which are given back whatever is offered by now. */
  readonly hasDeposits: boolean;
  /** Origin under which callers reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  /** 32 bytes in hex, for a key that signs receipts, the same on every instance; undefined: they are not signed. */
  readonly receiptSeed: string | undefined;
  /** 32 bytes in hex, for telling challenges that were given here from others, the same on every instance. */
  readonly challengeKey: string;
  /** For how long after a payment its payer may ask at `/v1/refunds` for what is owed; undefined: nowhere. */
  readonly refundWindowMs: number | undefined;
  readonly log: Log;
  now(): number;
}

/** A token of an EVM chain that is not in `networks.yaml`, and who gets it. */
export interface OwnAccount {
  readonly name: string;
  readonly caip2: string;
  readonly rpcUrl: string;
  /** Address of the token. */
  readonly asset: string;
  readonly payTo: string;
}

/** Everything that the gateway has to know of a rail: what its folder gives to the list. */
export interface RailDefinition<Config, Opened extends Rail> extends RailDeclaration {
  /** Reads the rail's own variables; what is wrong with them goes to the reader's problems. */
  readConfig(variables: VariableReader): Config;
  /** Where it is paid besides the networks of `networks.yaml`. */
  accounts(config: Config): readonly OwnAccount[];
  /** Undefined, with a warning in the log, where nothing that the rail is paid with is configured. */
  open(parts: RailParts<Config>): Opened | undefined;
  /** What it adds to the discovery documents. `rail` is what `open` gave. */
  documents(parts: RailDocumentParts, rail: Opened | undefined): RailDocuments;
  /** Headers of its own that a wallet in a browser has to send, and to read. */
  readonly browserHeaders: { readonly request: readonly string[]; readonly response: readonly string[] };
}
