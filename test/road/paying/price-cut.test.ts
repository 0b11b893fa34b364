/** A payment that was signed before its call became cheaper. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { Mppx, tempo } from 'mppx/client';
import t from 'tap';
import { createClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { type PaidCall, request, sendProof, signProof, signProofV1 } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { signMpp } from '../../settling-first.ts';

function cheaperCatalogue(): string {
  const directory = join(t.testdir({ catalogue: {} }), 'catalogue');
  cpSync('catalogue', directory, { recursive: true });
  const file = join(directory, 'endpoints/image/family-e-2.yaml');
  const text = readFileSync(file, 'utf8');
  const cheaper = text.replace('1k: "0.06"', '1k: "0.05"');
  if (cheaper === text) throw new Error(`${file} has another price by now`);
  writeFileSync(file, cheaper);
  return directory;
}

const gateway = await startGateway({ networks: ['chain-a', 'chain-c'], tempo: true });
t.teardown(gateway.stop);
const cheaper = await gateway.startAnother(undefined, cheaperCatalogue());

let made = 0;
/** A request that no other test makes. */
function fresh(prefix: string): PaidCall {
  made += 1;
  return request(gateway, `${prefix}/image/family-e-2`, { prompt: `a lighthouse, number ${made}` });
}

/** The same call once it costs 0.05. */
const later = ({ url, init }: PaidCall): PaidCall => ({ url: url.replace(gateway.url, cheaper), init });

for (const [name, prefix, network, sign, type, detail] of [
  ['x402, version 2, on an EVM network', '', 'chain-c', signProof, 'verification-failed', 'sign a new one'],
  ['x402, version 1, on an EVM network', '', 'chain-c', signProofV1, 'verification-failed', 'sign a new one'],
  ['x402, version 2, on Solana', '', 'chain-a', signProof, 'verification-failed', 'sign a new one'],
  ['x402, version 1, on Solana', '', 'chain-a', signProofV1, 'verification-failed', 'sign a new one'],
  ['MPP by evm', '/mpp', 'chain-c', signMpp, 'invalid-challenge', 'pay a fresh challenge'],
  ['MPP by tempo', '/mpp', 'tempo', signMpp, 'invalid-challenge', 'pay a fresh challenge'],
] as const) {
  t.test(`signed over ${name}, it is refused with both prices, nothing is charged, and a new one pays`, async (t) => {
    const call = fresh(prefix);
    const proof = await sign(gateway, network, call);
    const [calls, earned] = [await gateway.calls(), await gateway.earned(network)];
    const refused = await sendProof(later(call), proof);
    t.equal(refused.status, 402);
    const problem = (await refused.json()) as { type: string; title: string; detail: string };
    t.match(problem.type, new RegExp(`${type}$`));
    t.notMatch(problem.title, /too small/);
    t.match(problem.detail, /for 60000, the price is (only )?50000 atomic units/);
    t.match(problem.detail, detail);
    t.same(await gateway.calls(), calls);
    t.equal(await gateway.earned(network), earned);

    const paid = await sendProof(later(call), await sign({ ...gateway, url: cheaper }, network, later(call)));
    t.equal(paid.status, 200);
    t.equal((await gateway.earned(network)) - earned, 50_000n);
  });
}

t.test('sent over MPP already, it buys its call, and counts with what was sent', async (t) => {
  const { tempo: access } = gateway.state;
  if (!access) throw new Error('the sandbox has no Tempo chain');
  const chain = { ...tempoMainnet, id: access.chainId };
  const client = createClient({ chain, transport: http(access.rpcUrl), pollingInterval: 100 });
  const account = privateKeyToAccount(access.privateKey);
  const methods = [tempo({ account, mode: 'push', getClient: () => client })];
  const call = fresh('/mpp');
  const unpaid = await fetch(call.url, { ...call.init, headers: { ...call.init.headers, 'accept-payment': 'tempo' } });
  const earned = await gateway.earned('tempo');
  const authorization = await Mppx.create({ polyfill: false, methods }).createCredential(unpaid);
  t.equal((await gateway.earned('tempo')) - earned, 60_000n, 'the payer has sent it');

  const answer = await sendProof(later(call), { authorization });
  t.equal(answer.status, 200);
  const receipt = JSON.parse(Buffer.from(answer.headers.get('payment-receipt') ?? '', 'base64url').toString());
  const { payload } = JSON.parse(Buffer.from(authorization.replace('Payment ', ''), 'base64url').toString());
  t.match(receipt, { method: 'tempo', reference: payload.hash, status: 'success' });
  t.equal((await gateway.earned('tempo')) - earned, 60_000n, 'and nothing else was charged');
  const database = new Database(join(gateway.directory, 'turnpike.sqlite'), { readonly: true });
  t.teardown(() => database.close());
  const stored = database.prepare('SELECT * FROM payments ORDER BY rowid DESC LIMIT 1').get();
  t.match(stored, { state: 'settled', amount: '60000' });
});
