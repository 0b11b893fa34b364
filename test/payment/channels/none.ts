import type { ChannelStore } from '../../../src/store/channels/channel-store.ts';

/** Where nobody pays from a deposit. */
export const noChannels = new Proxy({} as ChannelStore, {
  get: (_, method) => () => Promise.reject(new Error(`channels.${String(method)} is not asked here`)),
});
