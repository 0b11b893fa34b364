/** A node that says nothing when money is to be given back: what is owed elsewhere does not wait for it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { SandboxState } from '../../../src/rails/paying-client.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { serve } from '../../payment/facilitators/front.ts';

/** Pictures that settle first wherever they are paid, and whose money goes back by itself. */
function catalogueOf(t: Test): string {
  const directory = join(t.testdir({ catalogue: {} }), 'catalogue');
  copySelling(['image/family-e-2'], directory);
  const file = join(directory, 'service.yaml');
  const own = 'exposure: { settleUpfront: { above: "0" } }\nrefunds: automatic\n';
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${own}`);
  return directory;
}

let chain = '';
/** Whether somebody was left without an answer. */
let isWaitedFor = false;
const node = await serve(async (_request, response, body) => {
  // Of all that the gateway does, only to give back takes a new blockhash.
  if (body.includes('getLatestBlockhash')) {
    isWaitedFor = true;
    return;
  }
  const answer = await fetch(chain, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  response.end(await answer.text());
});
t.teardown(node.stop);

const gateway = await startGateway({
  catalogue: catalogueOf(t),
  networks: ['chain-a', 'chain-c'],
  intervals: { reconcileEveryMs: 50 },
  between: async (sandbox) => {
    chain = (sandbox.state as SandboxState).solana?.rpcUrl ?? '';
    return { rpcUrl: (network) => (network.id === 'chain-a' ? node.url : sandbox.rpcUrl(network)) };
  },
});
t.teardown(gateway.stop);

async function owe(network: string): Promise<void> {
  const call = request(gateway, '/image/family-e-2', { prompt: `a lighthouse on ${network}` });
  const proof = await signProof(gateway, network, call);
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const answer = await sendProof(call, proof);
  if (answer.status !== 500) throw new Error(await answer.text());
}

t.test("a Solana node that says nothing keeps nobody's money back on another network", async (t) => {
  await owe('chain-a');
  while (!isWaitedFor) await delay(20);
  const before = await gateway.spendable('chain-c');
  await owe('chain-c');
  const until = Date.now() + 30_000;
  while ((await gateway.spendable('chain-c')) !== before && Date.now() < until) await delay(100);
  t.equal(await gateway.spendable('chain-c'), before);
});
