/** Answers without an end. */
import type { ServerResponse } from 'node:http';

/** Writes for as long as somebody reads, and tells how much it wrote. */
export function pouring(text: string, status: number, type: string, begin = '') {
  const poured = { bytes: 0 };
  const pour = (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': type });
    const chunk = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
    const write = () => {
      do poured.bytes += chunk.length;
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', write);
    response.write(begin);
    write();
  };
  return { poured, pour };
}
