import t from 'tap';
import { openLive } from '../../../src/live.ts';
import { coinbaseFacilitator } from '../../../src/payment/facilitators/coinbase.ts';

t.test('a key that cannot sign settles nothing and is not told', async (t) => {
  const facilitator = await coinbaseFacilitator('key-id', 'not-a-key');
  t.teardown(() => facilitator.close());
  const error = await facilitator.supported().catch((thrown: Error) => thrown);
  t.match(error, { name: 'FacilitatorUnreachable' });
  t.notMatch(String(error), /not-a-key/);
});

t.test(
  'a secret that Coinbase’s client cannot sign with keeps live mode from starting, by the name of its variable',
  async (t) => {
    const live = {
      payTo: {},
      rpcUrls: {},
      coinDollars: {},
      coinbase: { id: 'key-id', secret: '-----BEGIN EC PRIVATE KEY-----\\nMHcCAQEE\\n-----END EC PRIVATE KEY-----' },
      facilitatorUrl: undefined,
      signers: { evm: undefined, solana: undefined },
      variables: {},
    };
    await t.rejects(openLive(live, []), {
      name: 'ConfigProblem',
      message: /CDP_API_KEY_SECRET cannot be signed with: give .*BEGIN PRIVATE KEY/,
    });
  },
);
