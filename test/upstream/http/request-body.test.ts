/** What goes to an upstream, to the byte. */
import t from 'tap';
import { encodeBody, withQuery } from '../../../src/upstream/http/request-body.ts';
import type { UpstreamRequest } from '../../../src/upstream/http/upstream-http.ts';

t.test('adds the query to the path, without what is undefined or empty', async (t) => {
  const cases: [path: string, query: UpstreamRequest['query'], onTheWire: string][] = [
    ['/now', undefined, '/now'],
    ['/now', {}, '/now'],
    ['/now', { city: undefined, days: '' }, '/now'],
    ['/now', { city: [undefined, ''] }, '/now'],
    ['/now', { city: 'São Paulo & more' }, '/now?city=S%C3%A3o+Paulo+%26+more'],
    ['/now', { days: 0, isWarm: false, city: undefined, unit: '' }, '/now?days=0&isWarm=false'],
    ['/now', { city: ['a', undefined, '', 'b'], days: 3 }, '/now?city=a&city=b&days=3'],
    ['/now?lang=en', { city: 'a' }, '/now?lang=en&city=a'],
    ['/now?lang=en', { city: '' }, '/now?lang=en'],
  ];
  for (const [path, query, onTheWire] of cases) t.equal(withQuery(path, query), onTheWire, JSON.stringify(query));
});

t.test('sends nothing, or JSON with the text that hashes are taken of', async (t) => {
  t.same(encodeBody({}), { type: undefined, bytes: undefined, text: '' });
  for (const [json, text] of [
    [{ unit: '°C', left: undefined }, '{"unit":"°C"}'],
    [null, 'null'],
    [false, 'false'],
    ['', '""'],
  ]) {
    t.same(encodeBody({ json }), { type: 'application/json', bytes: text, text });
  }
});

t.test('sends a form as it is read everywhere: every part in order, files with their names and types', async (t) => {
  const { type, bytes, text } = encodeBody({
    parts: [
      { name: 'language', value: 'ü' },
      { name: 'a "b"\r\n', value: '' },
      { name: 'file', value: { bytes: new Uint8Array([0, 255, 13, 10]), fileName: '"c"\r\n.wav', type: 'audio/wav' } },
    ],
  });
  const [, boundary = ''] = /^multipart\/form-data; boundary=(turnpike-[0-9a-f-]{36})$/.exec(type ?? '') ?? [];
  t.not(boundary, '');
  const lines = [
    `--${boundary}`,
    'Content-Disposition: form-data; name="language"',
    '',
    'ü',
    `--${boundary}`,
    'Content-Disposition: form-data; name="a %22b%22%0D%0A"',
    '',
    '',
    `--${boundary}`,
    'Content-Disposition: form-data; name="file"; filename="%22c%22%0D%0A.wav"',
    'Content-Type: audio/wav',
    '',
  ];
  t.same(
    bytes,
    Buffer.concat([
      Buffer.from(`${lines.join('\r\n')}\r\n`),
      Buffer.from([0, 255, 13, 10]),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  );
  t.equal(text, '', 'its bytes are no text');
  t.not(encodeBody({ parts: [] }).type, type, 'no other body has the same boundary');
});
