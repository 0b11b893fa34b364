/** A Postgres that is asked over TLS. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { certificate } from '../../../src/sandbox/doubles/certificates.ts';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';

const DAY_MS = 86_400_000;

/** Takes TLS by a certificate of its own, and says no more. Answers its port. */
async function startServer(t: Test): Promise<number> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = certificate({
    subject: 'database.internal',
    issuer: 'database.internal',
    serial: 1,
    key: privateKey,
    issuerKey: privateKey,
    isAuthority: true,
    validFrom: new Date(Date.now() - DAY_MS),
    validTo: new Date(Date.now() + DAY_MS),
  });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const server = createServer(async (socket) => {
    socket.on('error', () => {});
    await once(socket, 'data');
    // To an SSLRequest (the PostgreSQL manual, 55.2.10).
    socket.write('S');
    new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

t.test('of a database whose certificate nobody knows it is said how to make it known', async (t) => {
  const port = await startServer(t);
  await t.rejects(openPostgresStore(`postgres://turnpike:secret-word@127.0.0.1:${port}/turnpike?sslmode=verify-full`), {
    name: 'StoreProblem',
    message:
      /^The Postgres database cannot be used: self-signed certificate\. Name the file of its authority's certificate in DATABASE_URL: \?sslmode=verify-full&sslrootcert=<file>$/,
  });
});
