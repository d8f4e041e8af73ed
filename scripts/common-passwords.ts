// Writes src/domain/common-passwords.ts from a list of passwords, most common first, one per line: the first
// 10,000 that are long enough.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { comparablePassword, digestBytes, passwordDigest } from '../src/domain/common-password.ts'
import { minPasswordLength } from '../src/domain/password.ts'

const [list] = process.argv.slice(2)
if (list === undefined) {
  console.error('Usage: node bin/node.js scripts/common-passwords.ts LIST')
  process.exit(2)
}

const maxPasswords = 10_000
const maxWidth = 108
const chosen = new Set<string>()
for (const line of readFileSync(list, 'utf8').split('\n')) {
  const password = comparablePassword(line.replace(/\r$/, ''))
  if (password.length >= minPasswordLength) chosen.add(password)
  if (chosen.size === maxPasswords) break
}
const digests = Array.from(chosen, passwordDigest).toSorted(Buffer.compare)
const text = Buffer.concat(digests).toString('base64')
const lines = text.match(new RegExp(`.{1,${maxWidth}}`, 'g')) ?? []
const code = `// Written by scripts/common-passwords.ts: ${digests.length} digests of ${digestBytes} bytes, in order.
export const commonPasswordDigests = \`
${lines.join('\n')}
\`
`
writeFileSync(fileURLToPath(new URL('../src/domain/common-passwords.ts', import.meta.url)), code)
