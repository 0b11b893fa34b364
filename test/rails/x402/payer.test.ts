/** What `npm run pay` says where a path is not paid as it was asked to. */
import t from 'tap';
import { openPayer } from '../../../src/rails/x402/payer.ts';
import { startGateway } from '../../gateway.ts';

const gateway = await startGateway();
t.teardown(gateway.stop);

/** Without the option `--scheme`, `exact`. */
async function told(network: string | undefined, scheme?: string, path = '/image/family-e-2'): Promise<string> {
  const unpaid = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"prompt":"fog","resolution":"1k"}',
  });
  const payer = await openPayer(gateway.state, network, scheme);
  try {
    return payer.offer(unpaid.clone(), await unpaid.json()).payable.join(', ');
  } catch (error) {
    return `${error instanceof Error ? `${error.constructor.name}: ${error.message}` : error}`;
  }
}

t.test('a way to pay that is not offered is answered with those that are, and where', async (t) => {
  t.equal(
    await told(undefined, 'hold'),
    'PayProblem: --scheme hold is not offered for this path, nothing was paid: it is paid by exact on chain-c, chain-a. A gateway of yours offers it with exposure: { hold: true } in service.yaml',
  );
  t.match(
    await told('chain-c', 'channel'),
    /--scheme channel is not offered for this path on chain-c, .*\{ channels: true \}/,
  );
  t.equal(await told('chain-c', 'exact'), 'chain-c, chain-a');
  t.equal(await told(undefined), 'chain-c, chain-a');
  t.equal(
    await told(undefined, 'exact', '/mpp/image/family-e-2'),
    'PayProblem: this path is sold over MPP, nothing was paid: take --protocol mpp',
  );
});
