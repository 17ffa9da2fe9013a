import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE_BYTES = 8;
const COLOURS_MAX = 256;
/** Bytes of a pixel by the colour type of a PNG without a palette: RGB and RGBA. */
const bytesOfPixel: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/**
 * The same picture with a palette, a third of the size: pages have few colours, and of the many between a letter and
 * its background the most frequent are enough. Takes what a browser writes: 8 bits, not interlaced.
 */
export const withPalette = (png: Buffer): Buffer => {
  const { width, height, pixelBytes, data } = read(png);
  const rows = unfiltered(data, width * pixelBytes, height, pixelBytes);
  const colours = new Uint32Array(width * height);
  const counts = new Map<number, number>();
  for (let pixel = 0; pixel < colours.length; pixel += 1) {
    const at = pixel * pixelBytes;
    const colour = ((rows[at] ?? 0) << 16) | ((rows[at + 1] ?? 0) << 8) | (rows[at + 2] ?? 0);
    colours[pixel] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort((one, other) => other[1] - one[1])
    .map(([colour]) => colour)
    .slice(0, COLOURS_MAX);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const indexed = Buffer.alloc((width + 1) * height);
  for (let pixel = 0; pixel < colours.length; pixel += 1) {
    const colour = colours[pixel] ?? 0;
    const place = places.get(colour) ?? nearest(palette, colour);
    places.set(colour, place);
    // Each row begins with its filter: 0, none.
    indexed[pixel + Math.floor(pixel / width) + 1] = place;
  }
  return Buffer.concat([
    png.subarray(0, SIGNATURE_BYTES),
    chunk("IHDR", header(width, height)),
    chunk("PLTE", Buffer.from(palette.flatMap((colour) => channels(colour)))),
    chunk("IDAT", deflateSync(indexed, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
};

const channels = (colour: number): readonly [number, number, number] => [
  colour >> 16,
  (colour >> 8) & 255,
  colour & 255,
];

const nearest = (palette: readonly number[], colour: number): number => {
  const [red, green, blue] = channels(colour);
  let [best, bestDistance] = [0, Number.POSITIVE_INFINITY];
  for (const [place, known] of palette.entries()) {
    const [knownRed, knownGreen, knownBlue] = channels(known);
    const distance = (red - knownRed) ** 2 + (green - knownGreen) ** 2 + (blue - knownBlue) ** 2;
    if (distance < bestDistance) [best, bestDistance] = [place, distance];
  }
  return best;
};

const read = (png: Buffer) => {
  const parts: Buffer[] = [];
  let [width, height, pixelBytes] = [0, 0, 0];
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      const known = bytesOfPixel[data.readUInt8(9)];
      if (known === undefined || data.readUInt8(8) !== 8) throw new Error("A PNG of another kind than the browser's");
      pixelBytes = known;
    }
    if (type === "IDAT") parts.push(data);
    at += length + 12;
  }
  return { width, height, pixelBytes, data: inflateSync(Buffer.concat(parts)) };
};

/** Each row without its filter. Source: PNG specification, 9. */
const unfiltered = (data: Buffer, rowBytes: number, height: number, pixelBytes: number): Buffer => {
  const rows = Buffer.alloc(rowBytes * height);
  for (let row = 0; row < height; row += 1) {
    const filter = data[row * (rowBytes + 1)];
    for (let column = 0; column < rowBytes; column += 1) {
      const at = row * rowBytes + column;
      const left = column < pixelBytes ? 0 : (rows[at - pixelBytes] ?? 0);
      const above = row === 0 ? 0 : (rows[at - rowBytes] ?? 0);
      const corner = row === 0 || column < pixelBytes ? 0 : (rows[at - rowBytes - pixelBytes] ?? 0);
      const predictions = [0, left, above, (left + above) >> 1, paeth(left, above, corner)];
      rows[at] = ((data[row * (rowBytes + 1) + column + 1] ?? 0) + (predictions[filter ?? 0] ?? 0)) & 255;
    }
  }
  return rows;
};

const paeth = (left: number, above: number, corner: number): number => {
  const estimate = left + above - corner;
  const distances = [left, above, corner].map((value) => Math.abs(estimate - value));
  const [toLeft = 0, toAbove = 0, toCorner = 0] = distances;
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
};

const header = (width: number, height: number): Buffer => {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  // 8 bits, with a palette.
  data.set([8, 3, 0, 0, 0], 8);
  return data;
};

const chunk = (type: string, data: Buffer): Buffer => {
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
};
