import { gzipSync } from 'node:zlib'

interface TarballFile {
  name: string
  content: Uint8Array
  isExecutable?: boolean
}

const block = 512

/**
 * A compressed tar archive (ustar). The same files and the same time produce the same bytes on every machine.
 */
export function tarball(files: readonly TarballFile[], seconds: number): Buffer {
  const parts = files.flatMap((file) => [headerOf(file, seconds), file.content, padding(file.content.length)])
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]))
}

function headerOf({ name, content, isExecutable = false }: TarballFile, seconds: number): Buffer {
  const header = Buffer.alloc(block)
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name for the archive.`)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  header.write(name, 0)
  header.write(octal(isExecutable ? 0o755 : 0o644, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(content.length, 11), 124)
  header.write(octal(seconds, 11), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)} `, 148)
  return header
}

function padding(length: number): Buffer {
  return Buffer.alloc((block - (length % block)) % block)
}
