// The same call sold with @x402/express. Runs in a folder of its own: the package cannot be installed beside ours.
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';

const { doublesUrl, path, offer } = JSON.parse(process.env.BENCH_PEER);
const { network, payTo, amount, asset, domain, description } = offer;

const facilitator = new HTTPFacilitatorClient({ url: doublesUrl });
const resources = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
const price = { amount, asset, extra: domain };
const sold = {
  accepts: { scheme: 'exact', price, network, payTo, maxTimeoutSeconds: 110 },
  description,
  mimeType: 'application/json',
};

const application = express();
application.use(paymentMiddleware({ [`POST ${path}`]: sold }, resources));
application.post(path, express.json(), async (request, response) => {
  const answer = await fetch(`${doublesUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: request.body.prompt }] }),
  });
  const { choices, usage } = await answer.json();
  response.json({ text: choices[0].message.content, usage });
});
const server = application.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready http://127.0.0.1:${server.address().port}\n`);
});
