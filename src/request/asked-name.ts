/** By which name a request was asked. A stranger's name may be made to lead here (DNS rebinding), for a page to ask from within. */
import { isIP } from 'node:net';

/** `localhost` of the Host header `localhost:4021`; without the brackets of an IPv6 address. Empty for what names no host. */
export function nameIn(host: string): string {
  // A URL takes more before and behind a name than the header may have (RFC 9110, 7.2).
  const url = /[@/?#\\]/.test(host) ? '' : `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
}

/** What no DNS answers for. */
export const isOwnName = (name: string): boolean => isIP(name) !== 0 || name === 'localhost';

const PRIVATE_NAME = /^[\w-]+(\.[\w-]+)*\.(internal|local)$|^[\w-]+$/;

/** `gateway`, `gateway.internal`: the internet's DNS has such names for nobody. */
export const isPrivateName = (name: string): boolean => PRIVATE_NAME.test(name);
