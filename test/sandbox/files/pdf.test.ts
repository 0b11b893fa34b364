import t from 'tap';
import { writePdf } from '../../../src/sandbox/files/pdf.ts';

t.test(
  'the table of a PDF says at which byte each of its objects begins, and its end where the table does',
  async (t) => {
    const pdf = writePdf({ text: 'fog (at dawn) \\ é' }).toString('latin1');
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
    t.match(pdf.slice(table), /^xref\n0 6\n0000000000 65535 f \n/);
    const places = [...pdf.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, place]) => Number(place));
    t.equal(places.length, 5);
    for (const [index, place] of places.entries()) t.ok(pdf.startsWith(`${index + 1} 0 obj\n`, place));
    const [, length, content] = /<< \/Length (\d+) >>\nstream\n(.*)\nendstream/s.exec(pdf) ?? [];
    t.equal(content?.length, Number(length));
    t.match(content, /\(fog {2}at dawn {5}\) Tj/, 'what would end the text, or is no letter of its font, is left out');
  },
);
