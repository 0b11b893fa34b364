/** The channels of one client while it runs: in its memory, and in the store that its program names. */
import type { ChannelConfig } from '../on-chain/channel-config.ts';
import { type Asset, isSameAddress } from './asset.ts';
import { channelIdOf } from './channel.ts';
import { type Channel, type DepositStore, readChannels, writeChannels } from './kept-channels.ts';
import type { ChannelOffer } from './offers.ts';

/** Two that go on from the same count would sign for the same calls. */
const SHARED =
  'another client has changed what is kept of the deposits since this one read it: give each client a depositStore of its own, or let one end before the next begins';

/** The same words for the same channel, whatever its salt. */
const nameOf = (
  network: string,
  { token, receiver, receiverAuthorizer }: Pick<ChannelConfig, 'token' | 'receiver' | 'receiverAuthorizer'>,
  delay: number,
) => `${network} ${token} ${receiver} ${receiverAuthorizer} ${delay}`.toLowerCase();

const nameOfChannel = ({ network, config }: Channel): string => nameOf(network, config, config.withdrawDelay);

/** Of the channels that such an offer is drawn from. */
const nameOfOffer = ({ asset, payTo, terms: { receiverAuthorizer, withdrawDelay } }: ChannelOffer): string =>
  nameOf(asset.network, { token: asset.address, receiver: payTo, receiverAuthorizer }, withdrawDelay);

/** Of one channel: others of the same name have other salts. */
export const keyOf = (channel: Channel): string => `${nameOfChannel(channel)} ${channel.config.salt}`.toLowerCase();

export interface FoundChannel {
  readonly channel: Channel;
  readonly asset: Asset;
}

export interface ChannelBook {
  /** By key. Throws where what is kept cannot be read. */
  channels(): Promise<ReadonlyMap<string, Channel>>;
  /** The channel that such an offer is drawn from; undefined: another has to be opened. Throws where what is kept cannot be read. */
  openFor(offer: ChannelOffer): Promise<Channel | undefined>;
  /** By what the contract calls it. Throws where what is kept cannot be read. */
  find(id: string): Promise<FoundChannel | undefined>;
  /** Undefined where it is not known. */
  assetOf(channel: Channel): Asset | undefined;
  /** Throws where it cannot be kept, or another client keeps its own there: then nothing has changed. */
  put(channel: Channel): Promise<void>;
  /** What a gateway says may be kept later: what was kept before says more was spent. */
  learn(channel: Channel): Promise<void>;
}

export function openChannelBook(store: DepositStore, assets: readonly Asset[], payers: readonly string[]): ChannelBook {
  let opened: Promise<Map<string, Channel>> | undefined;
  /** What this client may have left in the store: a write that failed may have come about. */
  let left: readonly (string | undefined)[] = [];

  const isOf = ({ address }: Asset, { config }: Channel): boolean => isSameAddress(address, config.token);

  const assetOf = (channel: Channel): Asset | undefined =>
    assets.find((asset) => asset.network === channel.network && isOf(asset, channel));

  /** Channels were kept under neutral ids once, which two chains may share. */
  function onItsChain(channel: Channel): Channel {
    const asset = assets.find((each) => each.id === channel.network && isOf(each, channel));
    return asset ? { ...channel, network: asset.network } : channel;
  }

  async function read(): Promise<Map<string, Channel>> {
    const text = await store.read();
    const kept = readChannels(text, payers).map(onItsChain);
    left = [text];
    return new Map(kept.map((channel) => [keyOf(channel), channel]));
  }

  function channels(): Promise<Map<string, Channel>> {
    opened ??= read();
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  }

  async function keep(channels: Iterable<Channel>): Promise<void> {
    if (!left.includes(await store.read())) throw new Error(SHARED);
    const text = writeChannels(channels);
    left = [...left, text];
    await store.write(text);
    left = left.slice(left.indexOf(text));
  }

  return {
    channels,
    assetOf,

    async openFor(offer) {
      const name = nameOfOffer(offer);
      return [...(await channels()).values()].find((channel) => !channel.isClosed && nameOfChannel(channel) === name);
    },

    async find(id) {
      for (const channel of (await channels()).values()) {
        const asset = assetOf(channel);
        if (asset && channelIdOf(asset, channel.config) === id) return { channel, asset };
      }
      return undefined;
    },

    async put(channel) {
      const all = await channels();
      await keep(new Map(all).set(keyOf(channel), channel).values());
      all.set(keyOf(channel), channel);
    },

    async learn(channel) {
      const all = await channels();
      all.set(keyOf(channel), channel);
      await keep(all.values()).catch(() => {});
    },
  };
}
