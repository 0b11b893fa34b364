/** Listens at all addresses of the machine, and is none that anybody can ask. */
const EVERYWHERE = ['0.0.0.0', '::'];

/** Where a server is reached that listens there, by whoever asks on this machine. */
export function originOf(host: string, port: number): string {
  const address = host.includes(':') ? `[${host}]` : host;
  return `http://${EVERYWHERE.includes(host) ? 'localhost' : address}:${port}`;
}
