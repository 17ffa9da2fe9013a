import { crc32, deflateRawSync } from "node:zlib";

const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_HEADER = 0x02014b50;
const DIRECTORY_END = 0x06054b50;
const VERSION = 20;
const DEFLATED = 8;
/** The first day that the format knows, so that equal files make equal archives. */
const DATE = 0x0021;
/** A regular file that everybody may read, as the CDK archives it. */
const MODE = (0o100644 << 16) >>> 0;

/** An archive of these files, by name. Source: PKWARE, APPNOTE.TXT, 4.3. */
export const zipOf = (files: ReadonlyMap<string, Buffer>): Buffer => {
  const entries: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of files) {
    const path = Buffer.from(name);
    const data = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(path.length, 22);
    const entry = Buffer.concat([uint32(LOCAL_HEADER), common, path, data]);
    const own = Buffer.alloc(14);
    own.writeUInt32LE(MODE, 6);
    own.writeUInt32LE(offset, 10);
    // Made on Unix (3), so that the mode is read.
    directory.push(Buffer.concat([uint32(DIRECTORY_HEADER), Buffer.from([VERSION, 3]), common, own, path]));
    entries.push(entry);
    offset += entry.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.size, 4);
  end.writeUInt16LE(files.size, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...entries, listed, uint32(DIRECTORY_END), end]);
};

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
