import type { Instant } from '../../domain/instant.ts'

// The records of a ZIP file as in PKWARE's APPNOTE 6.3.10. Names are ASCII. All numbers are little-endian.

/** A file within the archive. */
export interface ZipEntry {
  name: string
  modifiedAt: Instant
  /** Where its local header begins. */
  offset: number
  checksum: number
  packedBytes: number
  bytes: number
}

/** What is known about a file before its content. */
type ZipEntryStart = Pick<ZipEntry, 'name' | 'modifiedAt'>

/** Version 2.0 has deflate, 4.5 has 64-bit sizes. */
const plainVersion = 20
const wideVersion = 45
/** Of the program that made a file: Unix, so that readers apply the file's mode. */
const madeBy = (3 << 8) | wideVersion
/** A regular file that only its owner can read, because it is personal data. */
const fileMode = (0o100600 << 16) >>> 0
/** Checksum and sizes follow the content, and the name is UTF-8. */
const flags = (1 << 3) | (1 << 11)
const deflated = 8
/** A field with all bits set refers to its 64-bit form. */
const wide16 = 0xffff
const wide32 = 0xffffffff

const localSignature = 0x04034b50
const descriptorSignature = 0x08074b50
const directorySignature = 0x02014b50
const wideEndSignature = 0x06064b50
const wideLocatorSignature = 0x07064b50
const endSignature = 0x06054b50

/** Precedes a file's content. Its size is not known yet, so it does not announce 64-bit sizes. */
export function localHeader({ name, modifiedAt }: ZipEntryStart): Buffer {
  const [time, day] = dosTime(modifiedAt)
  const extra = timestamp(modifiedAt)
  const nameBytes = Buffer.from(name)
  return Buffer.concat([
    ...[u32(localSignature), u16(plainVersion), u16(flags), u16(deflated), u16(time), u16(day)],
    ...[u32(0), u32(0), u32(0), u16(nameBytes.length), u16(extra.length), nameBytes, extra],
  ])
}

/** Follows a file's content. Its sizes are wide if they have to be, which the directory also says. */
export function dataDescriptor({ checksum, packedBytes, bytes }: ZipEntry): Buffer {
  const size = packedBytes >= wide32 || bytes >= wide32 ? u64 : u32
  return Buffer.concat([u32(descriptorSignature), u32(checksum), size(packedBytes), size(bytes)])
}

/** The record of a file in the central directory. */
export function directoryRecord({
  name,
  modifiedAt,
  offset,
  checksum,
  packedBytes,
  bytes,
}: ZipEntry): Buffer {
  const [time, day] = dosTime(modifiedAt)
  // Readers expect both sizes if one is wide, as in the descriptor.
  const sizes = Math.max(packedBytes, bytes) >= wide32 ? [bytes, packedBytes] : []
  const wide = [...sizes, ...(offset >= wide32 ? [offset] : [])]
  const wideExtra = wide.length > 0 ? [u16(1), u16(wide.length * 8), ...wide.map(u64)] : []
  const extra = Buffer.concat([timestamp(modifiedAt), ...wideExtra])
  const nameBytes = Buffer.from(name)
  const [packedField, bytesField] = sizes.length > 0 ? [wide32, wide32] : [packedBytes, bytes]
  return Buffer.concat([
    ...[u32(directorySignature), u16(madeBy), u16(wide.length > 0 ? wideVersion : plainVersion)],
    ...[u16(flags), u16(deflated), u16(time), u16(day), u32(checksum), u32(packedField), u32(bytesField)],
    ...[u16(nameBytes.length), u16(extra.length), u16(0), u16(0), u16(0), u32(fileMode)],
    ...[u32(Math.min(offset, wide32)), nameBytes, extra],
  ])
}

/** The position of the central directory, which is the last thing in an archive. */
interface ZipDirectory {
  entries: number
  bytes: number
  offset: number
}

export function endOfDirectory(directory: ZipDirectory): Buffer {
  const { entries, bytes, offset } = directory
  const isWide = entries >= wide16 || bytes >= wide32 || offset >= wide32
  const count = u16(Math.min(entries, wide16))
  return Buffer.concat([
    ...(isWide ? [wideEndOfDirectory(directory)] : []),
    ...[u32(endSignature), u16(0), u16(0), count, count],
    ...[u32(Math.min(bytes, wide32)), u32(Math.min(offset, wide32)), u16(0)],
  ])
}

/** The 64-bit form, and its locator, by which readers find it. */
function wideEndOfDirectory({ entries, bytes, offset }: ZipDirectory): Buffer {
  const bytesBehindSize = 44
  return Buffer.concat([
    ...[u32(wideEndSignature), u64(bytesBehindSize), u16(madeBy), u16(wideVersion), u32(0), u32(0)],
    ...[u64(entries), u64(entries), u64(bytes), u64(offset)],
    ...[u32(wideLocatorSignature), u32(0), u64(offset + bytes), u32(1)],
  ])
}

/** Time and day in the format of MS-DOS: no time zone (here UTC), two-second steps, no year before 1980. */
function dosTime(instant: Instant): [time: number, day: number] {
  const date = new Date(instant)
  const year = Math.min(Math.max(date.getUTCFullYear() - 1980, 0), 127)
  return [
    (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1),
    (year << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(),
  ]
}

/** The extended timestamp: the exact second in UTC, which most readers prefer. It has 32 bits. */
function timestamp(instant: Instant): Buffer {
  const seconds = Math.floor(instant / 1_000)
  if (seconds < 0 || seconds > 0x7fffffff) return Buffer.alloc(0)
  const modificationOnly = 1
  return Buffer.concat([u16(0x5455), u16(5), Buffer.from([modificationOnly]), u32(seconds)])
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
