import type { Test } from 'tap';
import t from 'tap';
import type { AdapterDeclaration, CatalogueParts } from '../../../src/catalogue/contracts.ts';
import { compareCatalogues } from '../../../src/catalogue-diff/compare.ts';
import { groupsOf } from '../../../src/catalogue-diff/groups.ts';
import { loadWritten, oil, parts, replaced, rightFiles } from '../../catalogue/temporary-catalogue.ts';

type Files = Readonly<Record<string, string | null>>;

const OIL = 'endpoints/image/oil.yaml';
const NETWORKS = rightFiles['networks.yaml'] as string;

/** Each change in a line, as `route: effect about what before > after percent`. */
function between(t: Test, before: Files, after: Files, code: CatalogueParts = parts): string[] {
  const load = (files: Files) => loadWritten(t, files, code);
  const old = load(before);
  return compareCatalogues(old, load(after)).map(({ where, effect, about, what, before: was, after: is, percent }) => {
    const values = was === undefined && is === undefined ? [] : [`${was ?? '-'} > ${is ?? '-'}`];
    const words = [effect, about, what, ...values, percent === undefined ? '' : `${percent} %`];
    return `${where}: ${words.filter((word) => word !== '').join(' ')}`;
  });
}

/** What changes of the endpoint in oil when pieces of its text do. */
const ofOil = (t: Test, ...pieces: [from: string, to: string][]): string[] =>
  between(t, {}, { [OIL]: pieces.reduce((text, [from, to]) => replaced(text, from, to), oil) });

const also = 'mirrors: [{ network: chain-e }]\nmpp: { operationId: paint, tag: Pictures }\n';

t.test('a catalogue is no different from itself, nor from one in other words', async (t) => {
  t.same(ofOil(t, ['path: /image/oil\n', 'path: /image/oil # here\ndescription: In oil\n']), []);
  t.same(between(t, { 'endpoints/image/oil.yaml': oil }, { [OIL]: null, 'endpoints/art/oil-2.yaml': oil }), []);
});

t.test('endpoints and routes come, go and move', async (t) => {
  const all = `${oil}${also}`;
  t.same(between(t, {}, { [OIL]: all }), [
    'POST /chain-e/image/oil: harmless route new - > 0.05-0.1',
    'GET/POST /mpp/image/oil: harmless route new - > 0.05-0.1',
  ]);
  t.same(between(t, { [OIL]: all }, {}), [
    'POST /chain-e/image/oil: breaks route gone 0.05-0.1 > -',
    'GET/POST /mpp/image/oil: breaks route gone 0.05-0.1 > -',
  ]);
  const ink = replaced(oil, 'path: /image/oil', 'path: /image/ink');
  t.same(between(t, {}, { 'endpoints/image/ink.yaml': ink }), ['POST /image/ink: harmless endpoint new - > 0.05-0.1']);
  t.same(between(t, { 'endpoints/image/ink.yaml': ink }, {}), ['POST /image/ink: breaks endpoint gone 0.05-0.1 > -']);
  t.same(between(t, { [OIL]: all }, { [OIL]: replaced(all, 'path: /image/oil', 'path: /image/ink') }), [
    'POST /image/ink: breaks route moved /image/oil > /image/ink',
    'POST /chain-e/image/ink: breaks route moved /chain-e/image/oil > /chain-e/image/ink',
    'GET/POST /mpp/image/ink: breaks route moved /mpp/image/oil > /mpp/image/ink',
  ]);
});

t.test('what is taken out of sale is gone, though its file is there, and told of before that', async (t) => {
  const disabled = { [OIL]: `${oil}enabled: false\n` };
  const retired = { [OIL]: `${oil}retire: 2025-01-31\n` };
  for (const unsold of [disabled, retired]) {
    t.same(between(t, {}, unsold), ['POST /image/oil: breaks endpoint gone 0.05-0.1 > -']);
    t.same(between(t, unsold, {}), ['POST /image/oil: harmless endpoint new - > 0.05-0.1']);
  }
  t.same(between(t, disabled, retired), []);
  const [soon, later] = ['2098-12-31', '2099-01-31'].map((day) => ({ [OIL]: `${oil}retire: ${day}\n` }));
  t.same(between(t, {}, { ...soon }), ['POST /image/oil: breaks endpoint retires - > 2098-12-31']);
  t.same(between(t, { ...later }, { ...soon }), ['POST /image/oil: breaks endpoint retires 2099-01-31 > 2098-12-31']);
  t.same(between(t, { ...soon }, {}), ['POST /image/oil: harmless endpoint retires 2098-12-31 > -']);
});

t.test('what another endpoint sells at a path is compared with what was sold there', async (t) => {
  const moved = { [OIL]: replaced(oil, 'path: /image/oil', 'path: /image/old') };
  const taken = { 'endpoints/image/new.yaml': oil.replaceAll('"0.05"', '"0.06"') };
  t.same(between(t, {}, { ...moved, ...taken }), [
    'POST /image/oil: price price example 0.05 > 0.06 20 %',
    'POST /image/oil: price price lowest 0.05 > 0.06 20 %',
    'POST /image/oil: price price listed 0.05 > 0.06 20 %',
    'POST /image/old: harmless endpoint new - > 0.05-0.1',
  ]);
});

t.test('prices are compared for the example, for other choices and at the bounds', async (t) => {
  t.same(ofOil(t, ['large: "0.1"', 'large: "0.08"']), [
    'POST /image/oil: price price size=large 0.1 > 0.08 -20 %',
    'POST /image/oil: price price highest 0.1 > 0.08 -20 %',
  ]);
  const three = oil
    .replace('small: "0.05"', 'small: "0.05", medium: "0.07"')
    .replace('[small, large]', '[small, medium, large]');
  t.same(between(t, { [OIL]: three }, { [OIL]: replaced(three, '"0.07"', '"0.08"') }), [
    'POST /image/oil: price price size=medium 0.07 > 0.08 14.3 %',
  ]);
  t.same(ofOil(t, ['upstream:', 'listing: { price: "0.2", minPrice: "0.05" }\nupstream:']), [
    'POST /image/oil: price price in listings 0.05 > 0.2 300 %',
  ]);
});

t.test('a price of which no request shows that it changed counts as changed', async (t) => {
  const sized = replaced(oil, 'enum: [small, large], default: small', 'minLength: 1, maxLength: 5, default: small');
  const priced = (options: string) => ({
    [OIL]: replaced(sized, 'rule: select, by: size, amounts: { small: "0.05", large: "0.1" }', options),
  });
  const [change] = between(t, priced('rule: fixed, amount: "0.05"'), priced('rule: fixed, amount: "0.050"'));
  t.match(change, /: price price rule, with no request found .* > \{"rule":"fixed","amount":"0.050"\}/);
});

t.test('a price that begins or ends to be asked has no share of nothing', async (t) => {
  const free = replaced(oil, 'upstream:', 'free: true\nupstream:').replace('"0.05"', '"0"');
  const changes = between(t, { [OIL]: free }, {});
  t.ok(changes.includes('POST /image/oil: price price example 0 > 0.05'));
  t.ok(changes.includes('POST /image/oil: breaks free true > false'));
  t.ok(between(t, {}, { [OIL]: free }).includes('POST /image/oil: harmless free false > true'));
});

t.test('fewer output tokens for the same money may break who needs them', async (t) => {
  const [painter, ...others] = parts.adapters as [AdapterDeclaration, ...AdapterDeclaration[]];
  const writer = { ...parts, adapters: [{ ...painter, boundsOutput: true }, ...others] };
  const selling = (tokens: number) => ({
    [OIL]: oil.replace(
      /price: .*/,
      `price: { rule: fixed, amount: "1", maxOutput: ${tokens}, defaultOutput: ${tokens} }`,
    ),
  });
  t.same(between(t, selling(900), selling(800), writer), ['POST /image/oil: may break price output tokens 900 > 800']);
  t.same(between(t, selling(800), selling(900), writer), ['POST /image/oil: harmless price output tokens 800 > 900']);
});

t.test('a request that takes less breaks who sends it, and one that takes more harms nobody', async (t) => {
  const named = replaced(oil, 'example: { prompt: fog }', 'example: { prompt: fog, size: small }');
  const chosen = named.replace('required: [prompt]', 'required: [prompt, size]').replace(', default: small', '');
  t.same(between(t, { [OIL]: named }, { [OIL]: chosen }), [
    'POST /image/oil: breaks request size: is required now',
    'POST /image/oil: may break request size: default (cannot be judged) small > -',
  ]);
  t.same(between(t, {}, { 'schemas/prompt.yaml': 'type: string\nminLength: 1\nmaxLength: 9\n' }), [
    'POST /image/oil: breaks request prompt: maxLength - > 9',
  ]);
  t.same(ofOil(t, ['default: small', 'default: large']), [
    'POST /image/oil: breaks request size: default small > large',
    'POST /image/oil: price price example 0.05 > 0.1 100 %',
    'POST /image/oil: price price listed 0.05 > 0.1 100 %',
  ]);
});

t.test('a result that may be more breaks who reads it, and one that is surer harms nobody', async (t) => {
  const picture = rightFiles['schemas/picture.yaml'] as string;
  const ofPicture = (from: string, to: string) =>
    between(t, {}, { 'schemas/picture.yaml': replaced(picture, from, to) });
  t.same(ofPicture('required: [url]\n', ''), ['POST /image/oil: breaks result url: is no longer required']);
  t.same(ofPicture('type: string, format', 'type: [string, "null"], format'), [
    'POST /image/oil: breaks result url: type string > string, null',
  ]);
  t.same(ofPicture('properties:\n', 'properties:\n  size: { type: integer }\n'), [
    'POST /image/oil: harmless result size: new',
  ]);
  t.same(ofOil(t, ['upstream:', 'envelope: data\nupstream:']), ['POST /image/oil: breaks result envelope - > data']);
});

t.test('an answer that begins or ends to be streamed breaks who reads it', async (t) => {
  const [painter, ...others] = parts.adapters as [AdapterDeclaration, ...AdapterDeclaration[]];
  const code = {
    ...parts,
    adapters: [{ ...painter, streams: ({ steps }: object & { steps?: number }) => steps === 2 }, ...others],
  };
  const told = replaced(oil, '{ $ref: picture }', '{ type: string, examples: [fog] }');
  const [whole, streamed] = [{ [OIL]: told }, { [OIL]: `${told}  steps: 2\n` }];
  t.same(between(t, whole, streamed, code), ['POST /image/oil: breaks result streamed false > true']);
  t.same(between(t, streamed, whole, code), ['POST /image/oil: breaks result streamed true > false']);
});

t.test('networks are known by what is paid there: another name for one is no change', async (t) => {
  const paid = (networks: string) => ({ [OIL]: replaced(oil, 'path:', `networks: [${networks}]\npath:`) });
  t.same(between(t, paid('chain-a, chain-e'), paid('chain-a')), [
    'POST /image/oil: breaks network dropped chain-e > -',
  ]);
  t.same(between(t, paid('chain-a'), paid('chain-a, chain-e')), [
    'POST /image/oil: harmless network added - > chain-e',
  ]);
  const renamed = { 'networks.yaml': NETWORKS.replaceAll('chain-e', 'stable') };
  t.same(between(t, paid('chain-e'), { ...paid('stable'), ...renamed }), []);
  const other = { 'networks.yaml': replaced(NETWORKS, 'eip155:988', 'eip155:8453') };
  const asset = 'chain-e: USDT0 0x779Ded0c9e1022225f8E0630b35a9b54bE713736 on eip155';
  t.same(between(t, paid('chain-e'), { ...paid('chain-e'), ...other }), [
    `POST /image/oil: breaks network dropped ${asset}:988 > -`,
    `POST /image/oil: harmless network added - > ${asset}:8453`,
  ]);
  const version1 = {
    'networks.yaml': replaced(NETWORKS, 'caip2: eip155:988', 'v1Name: stable\n    caip2: eip155:988'),
  };
  t.same(between(t, { ...paid('chain-e'), ...version1 }, paid('chain-e')), [
    'POST /image/oil: breaks network chain-e: v1Name stable > -',
  ]);
});

t.test('what single networks take is part of the request', async (t) => {
  const on = (size: string) => ({
    [OIL]: replaced(
      oil,
      'path:',
      `networks: [chain-a, chain-e]\nrequestOn: { chain-e: { properties: { size: ${size} } } }\npath:`,
    ),
  });
  t.same(between(t, on('{ enum: [small, large] }'), on('{ enum: [small] }')), [
    'POST /image/oil: breaks request on chain-e size: enum loses large > -',
  ]);
});

t.test('methods, secrets and how a rail is paid', async (t) => {
  t.same(ofOil(t, ['path:', 'method: GET\npath:']), ['GET /image/oil: breaks method POST > GET']);
  t.same(ofOil(t, ['path:', 'secret: true\npath:']), ['POST /image/oil: may break secret false > true']);
  t.same(ofOil(t, ['path:', 'secret: { unless: size }\npath:']), [
    'POST /image/oil: may break secret false > unless size',
  ]);
  const service = `${rightFiles['service.yaml']}rails: { mpp: { networks: [chain-e] } }\n`;
  t.same(between(t, {}, { 'service.yaml': service }), [
    'every route of mpp: may break payment rails.mpp of service.yaml changed - > {"networks":["chain-e"]}',
  ]);
});

t.test('routes with the same changes are told together, those with the worst first', async (t) => {
  const load = (files: Files) => loadWritten(t, files);
  const before = load({ [OIL]: `${oil}${also}` });
  const after = load({
    [OIL]: `${oil}${also}`,
    'schemas/prompt.yaml': 'type: string\nminLength: 2\n',
    'endpoints/image/ink.yaml': replaced(oil, 'path: /image/oil', 'path: /image/ink'),
  });
  t.same(
    groupsOf(compareCatalogues(before, after)).map(({ where, changes }) => [...where, changes.length]),
    [
      ['POST /image/oil', 'POST /chain-e/image/oil', 'GET/POST /mpp/image/oil', 1],
      ['POST /image/ink', 1],
    ],
  );
});
