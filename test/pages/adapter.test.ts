import { join } from 'node:path';
import t from 'tap';
import { follow, paidCall } from './page.ts';

t.test('“Write an adapter” makes an adapter that keeps the contract, passes the check and sells', async (t) => {
  const project = follow(t, 'src/upstream/README.md');
  t.same(project.typeErrors(), []);
  await project.runTest(t, 'test/upstream/providers/sealbook.test.ts');

  const catalogue = join(project.directory, 'catalogue');
  const { generate } = await project.load<typeof import('../../codegen/generate.ts')>('codegen/generate.ts');
  const { shipped } = await project.load<typeof import('../../src/gateway/shipped.ts')>('src/gateway/shipped.ts');
  const files = await generate(catalogue, shipped);
  t.match(files.get('endpoints/document/entry.ts'), /export interface Request {[\s\S]*text: string/);

  const { startGateway } = await project.load<typeof import('../gateway.ts')>('test/gateway.ts');
  const { payV2, request } = await project.load<typeof import('../clients.ts')>('test/clients.ts');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const { path, body } = paidCall(project);
  const call = request(gateway, path, body);

  await gateway.fault({ upstream: 'sealbook', fault: 'refuse' });
  const refused = await payV2(gateway, 'chain-c', call);
  t.equal(refused.status, 400);
  t.match(await refused.json(), { error: { code: 'content_refused', message: /does not enter this text/ } });
  t.equal(await gateway.earned('chain-c'), 0n, 'a refusal costs nothing');

  const answer = await payV2(gateway, 'chain-c', call);
  t.equal(answer.status, 200, await answer.clone().text());
  t.match(await answer.json(), { entry: /^\w+$/, date: /^\d{4}-\d\d-\d\d$/ });
  t.equal(await gateway.earned('chain-c'), 10_000n);
});
