/** x402's extension `offer-receipt`, checked by the package that buyers check it with. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractReceiptFromResponse, verifyReceiptSignatureJWS } from '@x402/extensions/offer-receipt';
import t from 'tap';
import { receiptOf, request, sendProof, signProof } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';

const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
copySelling(['image/family-e-2'], catalogue);
appendFileSync(join(catalogue, 'service.yaml'), '\nreceipts: signed\n');
const gateway = await startGateway({ catalogue, networks: ['chain-a', 'chain-c'] });
t.teardown(gateway.stop);

interface DidDocument {
  readonly id: string;
  readonly verificationMethod: readonly { readonly publicKeyJwk: Parameters<typeof verifyReceiptSignatureJWS>[1] }[];
}
const keyOf = async (origin: string): Promise<DidDocument> =>
  (await fetch(`${origin}/.well-known/did.json`)).json() as Promise<DidDocument>;

for (const network of ['chain-c', 'chain-a']) {
  t.test(`a receipt of ${network} proves who bought what, with the key that the gateway shows`, async (t) => {
    const call = request(gateway, '/image/family-e-2', { prompt: `a buoy on ${network}` });
    const proof = await signProof(gateway, network, call);
    const answer = await sendProof(call, proof);
    const receipt = extractReceiptFromResponse(answer);
    if (receipt?.format !== 'jws') throw new Error('there is no signed receipt');
    const { id, verificationMethod } = await keyOf(gateway.url);
    const [header = ''] = receipt.signature.split('.');
    t.match(Buffer.from(header, 'base64url').toString(), `"kid":"${id}#receipts"`);
    t.equal(id, `did:web:${encodeURIComponent(new URL(gateway.url).host)}`);
    const { transaction, payer, network: chain } = receiptOf(answer);
    t.match(await verifyReceiptSignatureJWS(receipt, verificationMethod[0]?.publicKeyJwk), {
      version: 1,
      network: chain,
      resourceUrl: call.url,
      payer,
      transaction,
      issuedAt: Number,
    });
    const again = await sendProof(call, proof);
    t.same(extractReceiptFromResponse(again), receipt, 'the same for the same payment');
  });
}

t.test('another instance on the store signs with the same key', async (t) => {
  const other = await gateway.startAnother();
  const [one, two] = await Promise.all([gateway.url, other].map(keyOf));
  t.same(two?.verificationMethod[0]?.publicKeyJwk, one?.verificationMethod[0]?.publicKeyJwk);
});
