// What every peer sells, on Express. All of these files run in a folder of their own, in which the peers are installed.
import express from 'express';

/** `accepted` is the offer as x402 (version 2) says it. */
export const { doublesUrl, path, offer, accepted } = JSON.parse(process.env.BENCH_PEER);

/** `paywall` is middleware. */
export function sell(paywall) {
  const application = express();
  application.use(paywall);
  application.post(path, express.json(), async (request, response) => {
    if (typeof request.body.prompt !== 'string') {
      response.status(400).json({ error: 'prompt is missing' });
      return;
    }
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
}
