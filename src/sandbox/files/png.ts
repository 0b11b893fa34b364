import sharp from 'sharp';
import { seeded } from '../../examples/seed.ts';

export interface Picture {
  /** Decides the colours and shapes. */
  seed: string;
  /** Pixels. */
  width: number;
  height: number;
  /** Written at the bottom, where the machine has a font. */
  label: string;
  format: 'png' | 'jpg' | 'webp';
}

/** Large pictures take much memory while they are drawn: one at a time. */
let drawing: Promise<unknown> = Promise.resolve();

export function drawPicture(picture: Picture): Promise<Buffer> {
  const drawn = drawing.then(() => draw(picture));
  drawing = drawn.catch(() => undefined);
  return drawn;
}

/** A picture of flat shapes: real files of the right size that cost a few milliseconds. */
async function draw({ seed, width, height, label, format }: Picture): Promise<Buffer> {
  const random = seeded(seed);
  const colour = (): string => `hsl(${random.integer(0, 359)}, ${random.integer(45, 80)}%, ${random.integer(30, 70)}%)`;
  const side = Math.min(width, height);
  const shapes = Array.from({ length: 7 }, () => {
    const [x, y, size] = [random.integer(0, width), random.integer(0, height), random.integer(side / 12, side / 3)];
    return random.number() < 0.5
      ? `<circle cx="${x}" cy="${y}" r="${size}" fill="${colour()}"/>`
      : `<rect x="${x - size}" y="${y - size}" width="${size * 2}" height="${size}" fill="${colour()}"/>`;
  });
  const text = label.slice(0, 60).replaceAll(/[<>&]/g, ' ');
  const size = Math.max(8, Math.round(width / 40));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <rect width="100%" height="100%" fill="${colour()}"/>${shapes.join('')}
    <text x="${size}" y="${height - size}" font-family="sans-serif" font-size="${size}" fill="white">${text}</text>
  </svg>`;
  const image = sharp(Buffer.from(svg));
  switch (format) {
    case 'png':
      return await image.png({ compressionLevel: 3 }).toBuffer();
    case 'jpg':
      return await image.jpeg().toBuffer();
    case 'webp':
      return await image.webp({ effort: 1 }).toBuffer();
  }
}
