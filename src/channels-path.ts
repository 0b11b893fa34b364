/** Where what is left of deposits is given back. */
export const CHANNELS_PATH = '/v1/channels';
