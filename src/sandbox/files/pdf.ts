export interface PdfDocument {
  /** Stands on its one page. */
  text: string;
}

/** In a text between brackets (ISO 32000-1, 7.3.4.2), by the font's own encoding: plain ASCII, without what ends it. */
const written = (text: string): string => text.slice(0, 60).replaceAll(/[^ -~]|[()\\]/g, ' ');

/** A page with a line of text: PDF 1.4 (ISO 32000-1, 7.5), whose table says at which byte each object begins. */
export function writePdf({ text }: PdfDocument): Buffer {
  const content = `BT /F1 24 Tf 72 720 Td (${written(text)}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let pdf = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`;
  const end = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`;
  return Buffer.from(pdf + table + end, 'latin1');
}
