/** Questions to a chain's node over JSON-RPC: what of the answer is told, and how much may be asked about one payment. */
import t, { type Test } from 'tap';
import { refused, type Settlement, unknown, unused } from '../../../src/on-chain/settlement.ts';
import { type Look, type Looks, openLooks } from '../../../src/payment/chains/looks.ts';
import { ChainProblem, ChainUnreachable, createRpc } from '../../../src/payment/chains/rpc.ts';
import { serve } from '../facilitators/front.ts';
import { GONE, openNode } from './node.ts';

/** A node that answers everything with this text, and its address with a key in it. */
async function saying(t: Test, text: string): Promise<string> {
  const { url, stop } = await serve((_request, response) => response.end(text));
  t.teardown(stop);
  return `${url}/secret-key`;
}
const MOST_BYTES = 16 * 1024 * 1024;
const result = (length: number): string =>
  JSON.stringify({ id: 1, result: '' }).replace('""', `"${'a'.repeat(length)}"`);

t.test('a call is JSON-RPC 2.0 by POST, and its result is what the node says', async (t) => {
  let seen: unknown;
  const { url, stop } = await serve((request, response, body) => {
    seen = { method: request.method, type: request.headers['content-type'], body: JSON.parse(body) };
    response.end('{"jsonrpc":"2.0","id":1,"result":{"a":[null]}}');
  });
  t.teardown(stop);
  t.same(await createRpc(url)('eth_call', ['0x1', false]), { a: [null] });
  t.same(seen, {
    method: 'POST',
    type: 'application/json',
    body: { jsonrpc: '2.0', id: 1, method: 'eth_call', params: ['0x1', false] },
  });
});

t.test('null is a result, too', async (t) => {
  t.equal(await createRpc(await saying(t, '{"id":1,"result":null,"error":null}'))('x', []), null);
});

t.test("a node's error has its code, the method and no more of its text than anybody reads", async (t) => {
  const error = { code: -32_000, message: 'b'.repeat(300) };
  const problem = await createRpc(await saying(t, JSON.stringify({ id: 1, error })))('eth_call', []).catch(
    (caught: unknown) => caught,
  );
  t.ok(problem instanceof ChainProblem);
  t.match(problem, { name: 'ChainProblem', code: -32_000, message: `eth_call: ${'b'.repeat(200)}` });
});

t.test("an address in a node's error is not told: it may be its own, with an access key", async (t) => {
  for (const address of [
    'https://node.example/v2/the-key',
    'wss://me:the-key@node.example',
    `HTTP://${'the-key'.repeat(40)}`,
  ]) {
    const error = { code: -32_000, message: `upstream ${address} has refused` };
    const asked = createRpc(await saying(t, JSON.stringify({ id: 1, error })))('eth_call', []);
    await t.rejects(asked, { name: 'ChainProblem', message: /^eth_call: upstream …(?: has refused)?$/ }, address);
  }
});

t.test('a node that says nothing of use is out of reach, and its address is not told', async (t) => {
  for (const [text, message] of [
    ['<html>', 'gave no answer to eth_call'],
    ['', 'gave no answer to eth_call'],
    ['null', 'answered eth_call with something else'],
    ['[]', 'answered eth_call with something else'],
    ['"text"', 'answered eth_call with something else'],
    ['{"id":1}', 'answered eth_call without a result'],
    ['{"id":1,"error":"none"}', 'answered eth_call without a result'],
    ['{"id":1,"error":{"code":-32000,"message":{"toString":1}}}', 'answered eth_call with an error that is none'],
    ['{"id":1,"error":{"code":-32000,"message":[{"toString":1}]}}', 'answered eth_call with an error that is none'],
    [
      '{"id":1,"error":{"code":{"valueOf":1,"toString":1},"message":"no"}}',
      'answered eth_call with an error that is none',
    ],
  ] as const) {
    const problem = await createRpc(await saying(t, text))('eth_call', []).catch((caught: unknown) => caught);
    t.ok(problem instanceof ChainUnreachable, text);
    t.match(problem, { name: 'ChainUnreachable', message: `the chain's node ${message}` }, text);
  }
  const gone = await createRpc('http://127.0.0.1:9/secret-key')('eth_call', []).catch((caught: unknown) => caught);
  t.match(gone, { name: 'ChainUnreachable', message: "the chain's node gave no answer to eth_call" });
  t.match(gone, { cause: { code: 'ECONNREFUSED' } }, 'who looks for it finds why');
});

t.test('an answer may have 16 MiB and no more', async (t) => {
  const whole = result(MOST_BYTES - result(0).length);
  t.equal(whole.length, MOST_BYTES);
  t.equal(String(await createRpc(await saying(t, whole))('x', [])).length, MOST_BYTES - result(0).length);
  const problem = await createRpc(await saying(t, `${whole} `))('x', []).catch((caught: unknown) => caught);
  t.match(problem, { name: 'ChainUnreachable', cause: { message: 'the answer is too large' } });
});

t.test('a node that never answers is waited for no longer than is said', async (t) => {
  const { url, stop } = await serve(() => undefined);
  t.teardown(stop);
  await t.rejects(createRpc(url, 20)('x', []), { name: 'ChainUnreachable' });
});

t.test('a call that was answered keeps no process from ending', async (t) => {
  const url = await saying(t, result(1));
  const timers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
  const before = timers();
  await createRpc(url, 600_000)('x', []);
  t.equal(timers(), before);
});

interface Progress {
  seen: number;
}
const NOT_YET = unknown('not yet');

/** Looks by a clock that the test moves, at a node that is there to be asked. */
async function looksOf(t: Test) {
  const clock = { now: 1_700_000_000_000 };
  const { url, asked } = await openNode(t, () => 1);
  const looks: Looks<Progress> = openLooks(() => clock.now);
  const look = (payment: string, act: Look<Progress>) => looks.look(url, payment, act);
  return { clock, look, looks, url, asked };
}

/** A look that asks so much, and finds this. */
const asking =
  (questions: number, answer: Settlement = NOT_YET): Look<Progress> =>
  async (rpc) => {
    for (let asked = 0; asked < questions; asked += 1) await rpc('x', []);
    return answer;
  };

t.test('a look asks sixty times at the most', async (t) => {
  const { look, asked } = await looksOf(t);
  t.same(await look('one', asking(60)), NOT_YET);
  t.equal(asked().length, 60);
  t.same(await look('another', asking(61)), unknown('the chain was not searched in full yet'));
  t.equal(asked().length, 60);
});

t.test('a look begins no question after fifteen seconds', async (t) => {
  const { look, asked } = await looksOf(t);
  let time = 1_000_000;
  t.intercept(performance, 'now', { value: () => time });
  const slow =
    (milliseconds: number): Look<Progress> =>
    async (rpc) => {
      await rpc('x', []);
      time += milliseconds;
      await rpc('x', []);
      return NOT_YET;
    };
  t.same(await look('one', slow(15_000)), NOT_YET);
  t.equal(asked().length, 2);
  t.same(await look('another', slow(15_001)), unknown('the chain was not searched in full yet'));
  t.equal(asked().length, 1);
});

t.test('a look that fails leaves it unknown, with the reason', async (t) => {
  const { url } = await openNode(t, () => GONE);
  const found = await openLooks<Progress>().look(url, 'one', asking(1));
  t.same(found, unknown("the chain's node gave no answer to x"));
});

t.test('a look of more than ten questions is not repeated within a second', async (t) => {
  const { clock, look, asked } = await looksOf(t);
  t.same(await look('one', asking(11)), NOT_YET);
  t.equal(asked().length, 11);
  for (const [later, isAsked] of [
    [0, false],
    [999, false],
    [1, true],
    // A clock that is put back keeps nobody waiting.
    [-3_600_000, true],
  ] as const) {
    clock.now += later;
    const answer = unused(`after ${later} ms`);
    t.same(await look('one', asking(11, answer)), isAsked ? answer : NOT_YET);
    t.equal(asked().length, isAsked ? 11 : 0);
  }
});

t.test('a look of ten questions is repeated at once, and so is one behind it', async (t) => {
  const { look, asked } = await looksOf(t);
  for (const answer of [NOT_YET, unused('still not'), unknown('nor now')]) {
    t.same(await look('one', asking(10, answer)), answer);
    t.equal(asked().length, 10);
  }
});

t.test('a short look after a long one is repeated at once again', async (t) => {
  const { clock, look, asked } = await looksOf(t);
  await look('one', asking(11));
  clock.now += 1_000;
  await look('one', asking(1));
  clock.now -= 1;
  await look('one', asking(1));
  t.equal(asked().length, 13);
});

t.test('who asks while a look is under way gets its answer', async (t) => {
  const { look, asked } = await looksOf(t);
  const [one, same, other] = await Promise.all([
    look('one', asking(1, unknown('first'))),
    look('one', asking(1, unknown('second'))),
    look('another', asking(1, unknown('third'))),
  ]);
  t.same([one, same, other], [unknown('first'), unknown('first'), unknown('third')]);
  t.equal(asked().length, 2);
  t.same(await look('one', asking(1, unknown('fourth'))), unknown('fourth'), 'not once it has ended');
});

/** Counts the looks at a payment for which progress is kept. */
const counting: Look<Progress> = async (_rpc, progress) => {
  progress.seen = (progress.seen ?? 0) + 1;
  return unknown(`look ${progress.seen}`);
};

t.test('what was searched is remembered with the payment, on its node, until it is known', async (t) => {
  const { look, looks, url } = await looksOf(t);
  t.same(await look('one', counting), unknown('look 1'));
  t.same(await look('one', counting), unknown('look 2'));
  t.same(await look('another', counting), unknown('look 1'));
  t.same(await looks.look(`${url}/other`, 'one', counting), unknown('look 1'));
  t.same(await look('one', async () => refused('it is over')), refused('it is over'));
  t.same(await look('one', counting), unknown('look 1'), 'then it is forgotten');
});

t.test('ten thousand payments are remembered, and of more those that were asked about last', async (t) => {
  const { look } = await looksOf(t);
  for (let payment = 1; payment <= 10_000; payment += 1) await look(String(payment), counting);
  t.same(await look('1', counting), unknown('look 2'));
  await look('one more', counting);
  t.same(await look('2', counting), unknown('look 1'), 'nobody had asked about this one for longest');
  t.same(await look('1', counting), unknown('look 3'));
  t.same(await look('4', counting), unknown('look 2'));
});

t.end();
