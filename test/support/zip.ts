import { crc32, inflateRawSync } from 'node:zlib'

interface ZippedFile {
  name: string
  modifiedAt: Date
  text: string
}

/** The files of an archive, read from its central directory. Throws if the archive is incomplete. */
export function readZip(bytes: Buffer): ZippedFile[] {
  const end = bytes.length - 22
  if (end < 0 || bytes.readUInt32LE(end) !== 0x06054b50) throw new Error('The archive has no end.')
  const count = bytes.readUInt16LE(end + 10)
  const files: ZippedFile[] = []
  let at = bytes.readUInt32LE(end + 16)
  for (let i = 0; i < count; i++) {
    if (bytes.readUInt32LE(at) !== 0x02014b50) throw new Error('The directory is damaged.')
    const [nameLength, extraLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30)]
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    const extra = bytes.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength)
    files.push({ name, modifiedAt: new Date(extra.readUInt32LE(5) * 1_000), text: contentOf(bytes, at) })
    at += 46 + nameLength + extraLength
  }
  return files
}

function contentOf(bytes: Buffer, record: number): string {
  const packedBytes = bytes.readUInt32LE(record + 20)
  const header = bytes.readUInt32LE(record + 42)
  if (bytes.readUInt32LE(header) !== 0x04034b50) throw new Error('A file has no header.')
  const from = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28)
  const content = inflateRawSync(bytes.subarray(from, from + packedBytes))
  const descriptor = bytes.subarray(from + packedBytes)
  const facts = [crc32(content), packedBytes, content.length]
  for (const [i, fact] of facts.entries()) {
    if (bytes.readUInt32LE(record + 16 + 4 * i) !== fact || descriptor.readUInt32LE(4 + 4 * i) !== fact)
      throw new Error('A file does not match its checksum and sizes.')
  }
  return content.toString('utf8')
}

/** The text of one file in an archive. */
export function fileIn(files: readonly ZippedFile[], name: string): string {
  const file = files.find((each) => each.name === name)
  if (file === undefined) throw new Error(`The archive has no ${name}.`)
  return file.text
}
