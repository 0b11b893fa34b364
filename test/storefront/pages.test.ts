/** The pages as they come over the wire, to browsers without scripts, to programs and to agents. */
import t from 'tap';
import { payV2, request, sendProof } from '../clients.ts';
import { startGateway } from '../gateway.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const gateway = await startGateway();
t.teardown(gateway.stop);

const asBrowser = (path: string, init: RequestInit = {}) =>
  fetch(gateway.url + path, { ...init, redirect: 'manual', headers: { accept: BROWSER, ...init.headers } });

const listing = (await (await fetch(`${gateway.url}/x402-resources`)).json()) as { resources: { slug: string }[] };
const sold = listing.resources.map(({ slug }) => `/${slug}`);

t.test('a browser is shown everything that is sold, without any script', async (t) => {
  const answer = await asBrowser('/');
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /^text\/html/);
  t.match(answer.headers.get('vary'), /accept/i);
  const page = await answer.text();
  const linked = new Set([...page.matchAll(/href="\/endpoints(\/[^"]+)"/g)].map(([, path]) => String(path)));
  t.ok(linked.size > 70);
  for (const path of linked) {
    t.ok(sold.includes(path), `${path} is sold`);
    const endpoint = await asBrowser(`/endpoints${path}`);
    t.equal(endpoint.status, 200, path);
    const text = await endpoint.text();
    t.match(text, /<output id="price"[^>]*>[0-9.]+ /, `${path} has a price`);
    t.match(text, /data-snippet="curl"/);
    t.notMatch(text, /\[object Object\]|undefined/, path);
  }
});

t.test('a program is given what is written for agents, or where it is sent', async (t) => {
  for (const accept of [undefined, '*/*', 'application/json', 'text/plain']) {
    const answer = await fetch(`${gateway.url}/`, accept === undefined ? {} : { headers: { accept } });
    t.equal(answer.status, 200);
    t.match(answer.headers.get('content-type'), /^text\/plain/, String(accept));
    t.match(await answer.text(), /^# Turnpike/);
  }
  const list = await asBrowser('/endpoints');
  t.equal(list.status, 308);
  t.equal(list.headers.get('location'), '/');
});

t.test('pages write money to the cent at least, and networks by the names that the button has', async (t) => {
  for (const path of ['/', '/endpoints/image/family-e-2', '/endpoints/video/family-h-generation']) {
    const page = await (await asBrowser(path)).text();
    t.match(page, /\b\d+\.\d\d USD|<td>\d+\.\d\d<\/td>/, path);
    t.notMatch(page, /\b\d+\.\d USD|<td>\d+\.\d<\/td>|as listed/, path);
    t.match(page, 'Chain C (USDC)', path);
    t.notMatch(page, /chain-[ac]-mainnet/, path);
  }
});

t.test('only what can be paid is listed, by its own path or a mirror, with the ways to pay it', async (t) => {
  const other = await startGateway({ networks: ['chain-e'] });
  t.teardown(other.stop);
  const read = async (path: string) => (await fetch(other.url + path, { headers: { accept: BROWSER } })).text();
  const { resources } = JSON.parse(await read('/x402-resources')) as typeof listing;
  const { paths } = JSON.parse(await read('/openapi.json')) as { paths: object };
  const cards = (await read('/')).split('<li class="card"').slice(1);
  t.ok(cards.length > 10 && cards.length < 70, `${cards.length} are listed`);
  for (const card of cards) {
    const path = /href="\/endpoints(\/[^"]+)"/.exec(card)?.[1] ?? '';
    const overX402 = resources.some(({ slug }) => `/${slug}`.endsWith(path));
    const doors = [...(overX402 ? ['x402'] : []), ...(`/mpp${path}` in paths ? ['mpp'] : [])];
    t.not(doors.length, 0, path);
    t.match(card, `data-doors="${[...doors, 'mcp'].join(' ')}"`, path);
  }
});

t.test('every mirror has a page at its own path, too', async (t) => {
  for (const path of sold) t.equal((await asBrowser(`/endpoints${path}`)).status, 200, path);
  t.equal((await asBrowser('/endpoints/image/nothing-of-that-name')).status, 404);
});

t.test(
  'an address that leads to nothing is a page with a way back for people, and a problem for programs',
  async (t) => {
    for (const path of [
      '/nothing-here',
      '/endpoints/nothing-here',
      '/media/nothing.png',
      '/%',
      '//x',
      '/no?<script>',
    ]) {
      const answer = await asBrowser(path);
      t.equal(answer.status, 404, path);
      t.match(answer.headers.get('content-type'), /^text\/html/, path);
      t.match(answer.headers.get('vary'), /accept/i);
      t.match(answer.headers.get('content-security-policy'), "default-src 'none'");
      const page = await answer.text();
      t.match(page, /<h1>No such page<\/h1>[\s\S]*<a href="\/">Everything that is sold<\/a>/);
      t.notMatch(page, /canonical|nothing-here|\?<script>/);
      const program = await fetch(gateway.url + path, { headers: { accept: 'application/json' } });
      t.match([program.status, await program.json()], [404, { error: { code: 'unknown_path' } }]);
    }
    t.match(await (await asBrowser('/nothing-here', { method: 'POST' })).json(), { error: { code: 'unknown_path' } });
  },
);

t.test('pages load nothing from elsewhere, run nothing inline, and may be framed by nobody', async (t) => {
  for (const path of ['/', '/endpoints/image/family-e-2', '/chat']) {
    const answer = await asBrowser(path);
    const policy = answer.headers.get('content-security-policy') ?? '';
    t.match(policy, "default-src 'none'");
    t.match(policy, "frame-ancestors 'none'");
    t.notMatch(policy, /unsafe|\*/);
    const page = await answer.text();
    t.notMatch(page, /<script(?![^>]* src="\/storefront\/)|\son\w+="|\sstyle="|<style/, path);
    const loaded = [...page.matchAll(/<(?:script|link rel="stylesheet"|img|audio|video)[^>]* (?:src|href)="([^"]+)"/g)];
    for (const [, address] of loaded) {
      t.match(address, /^\//, path);
      t.equal((await asBrowser(String(address))).status, 200, String(address));
    }
  }
});

t.test('pages and scripts are sent compressed, and not twice', async (t) => {
  for (const path of ['/', '/storefront/main.js', '/storefront/main.css']) {
    const plain = await fetch(gateway.url + path, { headers: { accept: BROWSER, 'accept-encoding': 'identity' } });
    const short = await fetch(gateway.url + path, { headers: { accept: BROWSER, 'accept-encoding': 'br' } });
    t.equal(short.headers.get('content-encoding'), 'br', path);
    t.ok(Number(short.headers.get('content-length')) < Number(plain.headers.get('content-length')), path);
    t.equal(await short.text(), await plain.text());
    const etag = String(short.headers.get('etag'));
    t.equal((await asBrowser(path, { headers: { 'if-none-match': etag } })).status, 304, path);
  }
});

t.test('what a client has already is not sent again, also where a proxy has weakened its tag', async (t) => {
  for (const path of ['/openapi.json', '/endpoints/image/family-e-2']) {
    const etag = String((await asBrowser(path)).headers.get('etag'));
    for (const known of [etag, `W/${etag}`, `"another", W/${etag}`]) {
      t.equal((await asBrowser(path, { headers: { 'if-none-match': known } })).status, 304, `${path} ${known}`);
    }
    t.equal((await asBrowser(path, { headers: { 'if-none-match': '"another"' } })).status, 200, path);
  }
});

t.test('a browser that opens what is sold is shown its page in place of a bare 402', async (t) => {
  const path = '/token/launchpad-movers?limit=5';
  const page = await asBrowser(path);
  t.equal(page.status, 402);
  t.match(page.headers.get('content-type'), /^text\/html/);
  t.ok(page.headers.get('payment-required'), 'the challenge stands in its header all the same');
  t.match(page.headers.get('vary'), /accept/i);
  t.match(await page.text(), 'This address is sold by the call');

  const program = await fetch(gateway.url + path);
  t.equal(program.status, 402);
  t.match(program.headers.get('content-type'), /json/);

  const posted = await asBrowser('/image/family-e-2');
  t.equal(posted.status, 405);
  t.equal(posted.headers.get('allow'), 'POST');
  t.match(await posted.text(), 'This address takes POST');
});

t.test('who pays is given the result, whatever they would rather read', async (t) => {
  const call = request(gateway, '/chain-c-main/token/launchpad-movers');
  const asked = { ...call, init: { ...call.init, headers: { accept: BROWSER } } };
  const before = await gateway.earned('chain-c');
  const answer = await payV2(gateway, 'chain-c', asked);
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /json/);
  t.ok((await gateway.earned('chain-c')) > before);

  const spent = await sendProof({ ...call, init: { headers: { accept: BROWSER } } }, { 'payment-signature': 'e30=' });
  t.equal(spent.status, 402);
  t.match(spent.headers.get('content-type'), /json/, 'nor is a refused payment answered with a page');
});
