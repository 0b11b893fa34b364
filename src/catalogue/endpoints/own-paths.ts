/** First segments of the gateway's own paths, some of them for what it does not answer yet. */
const OWN = [
  ...['healthz', 'readyz', 'metrics', 'mcp', 'v1', 'media', 'sandbox', '.well-known'],
  ...['llms.txt', 'robots.txt', 'icon.svg', 'favicon.ico', 'x402-resources', 'server.json'],
  ...['openapi.json', 'openapi-all.json', 'openapi'],
  ...['endpoints', 'storefront', 'chat'],
];

const firstOf = (path: string): string => path.split('/')[1] ?? '';

export const isOwnPath = (path: string): boolean => OWN.includes(firstOf(path));

/** True where the path is the prefix (`/mpp`, `/chain-e`) or lies below it. */
export const isBelow = (path: string, prefix: string): boolean => `/${firstOf(path)}` === prefix;
