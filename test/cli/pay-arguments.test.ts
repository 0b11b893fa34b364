import t from 'tap';
import { readArguments } from '../../src/cli/pay/arguments.ts';
import { rails } from '../../src/rails/index.ts';
import * as mpp from '../../src/rails/mpp/payer.ts';
import type { PayerModule } from '../../src/rails/paying-client.ts';
import * as x402 from '../../src/rails/x402/payer.ts';

const payers: Readonly<Record<string, PayerModule>> = { x402, mpp };

t.test('every rail has a client that pays', async (t) => {
  t.same(Object.keys(payers).sort(), rails.map(({ name }) => name).sort());
});

t.test('a path is paid on the rail that sells it, unless another is named', async (t) => {
  t.equal(readArguments(['/image/oil'], {}).protocol, 'x402');
  t.equal(readArguments(['/mpp/image/oil'], {}).protocol, 'mpp');
  t.equal(readArguments(['/mppx/oil'], {}).protocol, 'x402');
  t.equal(readArguments(['/mpp/image/oil', '--protocol', 'x402'], {}).protocol, 'x402');
});

t.test('a number that would be read as another is refused', async (t) => {
  t.throws(() => readArguments(['/weather/forecast', '{"list": [{"id": 9007199254740993}]}'], {}), {
    message: /^the body's \/list\/0\/id has more digits than a number keeps, and would be read as 9007199254740992/,
  });
  const kept = '{"id": 9007199254740992}';
  t.equal(readArguments(['/weather/forecast', kept], {}).body, kept);
});

t.test('a protocol that there is not is refused with those that there are', async (t) => {
  t.throws(() => readArguments(['/image/oil', '--protocol', 'lightning'], {}), {
    message: '--protocol is x402 or mpp: got lightning',
  });
});
