const ADDRESS = /[a-z][a-z0-9+.-]{0,15}:\/\/\S*/gi;

/** What another machine said, without the addresses that it names: those of nodes may carry keys. */
export const withoutAddresses = (words: string): string => words.replace(ADDRESS, '…');
