import t from 'tap';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { printed, startMain } from '../started.ts';

const CONTAINER_BYTES = 32 * 2 ** 20;
const LIMITED = `process.constrainedMemory = () => ${CONTAINER_BYTES}`;

t.test(
  'in a small container strangers may have less kept for them, and who sends too much gets to read that',
  async (t) => {
    const catalogue = catalogueOf(t, ['llm/vendor3-5.6-luna']);
    const port = String(await freePort());
    const run = startMain({
      TURNPIKE_MODE: 'live',
      TURNPIKE_PUBLIC_URL: 'https://gateway.example',
      TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
      TURNPIKE_FACILITATOR_URL: 'http://127.0.0.1:9',
      TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
      TURNPIKE_CATALOGUE: catalogue,
      TURNPIKE_DATA: `${catalogue}-data`,
      OPENROUTER_API_KEY: 'a key of the test',
      HOST: '127.0.0.1',
      PORT: port,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(LIMITED)}`,
    });
    t.teardown(() => run.child.kill('SIGKILL'));
    await printed(run, /^ready /m);
    const ask = async (characters: number) => {
      const answer = await fetch(`http://127.0.0.1:${port}/llm/vendor3-5.6-luna`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'x'.repeat(characters) }),
      });
      return `${answer.status} ${answer.headers.get('retry-after')}`;
    };
    t.equal(await ask(1_000_000), '402 null');
    t.equal(await ask(4_000_000), '429 5');
    t.equal(await ask(1_000_000), '402 null');
  },
);
