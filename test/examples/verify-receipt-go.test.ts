import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { blocks, read } from '../docs/markdown.ts'
import { type ErasureToProve, makeReceipt, noteSigner } from '../support/make-receipt.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const execute = promisify(execFile)
const debianPackages = '/usr/share/gocode'
const noGo =
  missing('go') ||
  (!existsSync(`${debianPackages}/src/golang.org/x/mod/sumdb/tlog`) &&
    'golang.org/x/mod is not there; install golang-golang-x-mod-dev')

function seed(words: string): Buffer {
  return createHash('sha256').update(words).digest()
}

const origin = 'lethe.local/acme'
const signer = noteSigner(origin, seed('acme'))
const rotated = noteSigner(origin, seed('acme, later'))

function erasures(count: number): ErasureToProve[] {
  return Array.from({ length: count }, (_, i) => {
    return { trackerId: 'shop', subjectId: `visitor-${i}`, nonce: seed(`nonce ${i}`), events: i }
  })
}

describe('verify-receipt-go', { skip: noGo }, async () => {
  if (noGo) return
  const folder = temporaryFolder({ after })
  const program = join(folder, 'verify-receipt-go')
  const env = {
    PATH: process.env.PATH,
    GO111MODULE: 'off',
    GOFLAGS: '',
    GOPATH: debianPackages,
    GOCACHE: join(folder, 'cache'),
  }
  const cwd = fileURLToPath(new URL('../../examples/verify-receipt-go', import.meta.url))
  await execute('go', ['build', '-o', program, '.'], { cwd, env })

  /** Verifies a receipt, and returns the exit code and the output. */
  async function verify(receipt: string | Uint8Array, ...args: string[]) {
    const file = join(folder, `${createHash('sha256').update(receipt).digest('hex')}.tlog-proof`)
    writeFileSync(file, receipt)
    return await execute(program, [...args, file]).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stderr }) => ({ code, said: stderr }),
    )
  }

  const key = ['--key', signer.vkey]
  const who = ['--tracker', 'shop', '--subject', 'visitor-4']
  const receipt = makeReceipt(4, erasures(7), { origin, signers: [signer] })

  it('prints what its readme shows', async () => {
    const [, shown] = blocks(read('examples/verify-receipt-go/README.md'), 'text')
    assert.deepEqual(await verify(receipt, ...key, ...who), { code: 0, said: shown })
  })

  it('verifies receipts for every index in ledgers of several sizes', async () => {
    for (const size of [1, 3, 8]) {
      const all = erasures(size)
      const outcomes = await Promise.all(
        all.map(({ subjectId }, index) => {
          const text = makeReceipt(index, all, { origin, signers: [signer] })
          return verify(text, ...key, '--tracker', 'shop', '--subject', subjectId)
        }),
      )
      for (const { code, said } of outcomes) assert.equal(code, 0, said)
    }
  })

  it('verifies after a rotation with either key, and with any IDs', async () => {
    const odd = { trackerId: 'ü/ <b>&', subjectId: '"\u{1f9a6}"\u2028', nonce: seed('odd') }
    const text = makeReceipt(1, [...erasures(1), odd], { origin, signers: [rotated, signer] })
    for (const { vkey } of [rotated, signer]) {
      const args = ['--key', vkey, '--tracker', odd.trackerId, '--subject', odd.subjectId]
      assert.equal((await verify(text, ...args)).code, 0)
    }
  })

  it('says if it is not verified whose data was erased', async () => {
    const { code, said } = await verify(receipt, ...key)
    assert.equal(code, 0)
    assert.match(said, /whose data that was is not proven/)
  })

  it('fails for another tracker, data subject or key', async () => {
    for (const args of [
      [...key, '--tracker', 'shpo', '--subject', 'visitor-4'],
      [...key, '--tracker', 'shop', '--subject', 'visitor-5'],
      ['--key', rotated.vkey],
    ]) {
      assert.equal((await verify(receipt, ...args)).code, 1)
    }
    assert.equal((await verify(receipt, ...who)).code, 2)
  })

  it('fails with one bit flipped in every fiftieth byte, and with any bit of the last three', async () => {
    const bytes = Buffer.from(receipt)
    const places = [...bytes.keys()].filter((at) => at % 50 === 0).map((at) => at * 8 + (at % 8))
    const bits = [...places, ...Array.from({ length: 24 }, (_, i) => (bytes.length - 3) * 8 + i)]
    for (let from = 0; from < bits.length; from += 10) {
      const flipped = bits.slice(from, from + 10).map(async (bit) => {
        const copy = Buffer.from(bytes)
        copy[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const { code, said } = await verify(copy, ...key, ...who)
        assert.equal(code, 1, `bit ${bit}: ${said}`)
      })
      await Promise.all(flipped)
    }
  })
})

describe('the signature of a checkpoint', { skip: missing('openssl') }, () => {
  const receipt = makeReceipt(4, erasures(7), { origin, signers: [signer] })
  const checkpoint = receipt.slice(receipt.indexOf('\n\n') + 2)
  const text = checkpoint.slice(0, checkpoint.lastIndexOf('\n\n') + 1)

  /** Whether openssl verifies a text, with the key of the vkey and the signature of the checkpoint. */
  async function isGood(signedText: string, t: { after(work: () => void): void }): Promise<boolean> {
    const folder = temporaryFolder(t)
    const publicKey = Buffer.from(signer.vkey.split('+').slice(2).join('+'), 'base64').subarray(1)
    const prefix = Buffer.from('302a300506032b6570032100', 'hex')
    const signature = Buffer.from(checkpoint.trimEnd().split(' ').at(-1) ?? '', 'base64').subarray(4)
    const files = { key: Buffer.concat([prefix, publicKey]), signature, text: signedText }
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const given = '-pubin -keyform DER -inkey key -rawin -in text -sigfile signature'.split(' ')
    return await execute('openssl', ['pkeyutl', '-verify', ...given], { cwd: folder }).then(
      () => true,
      ({ code }) => {
        assert.equal(code, 1)
        return false
      },
    )
  }

  it('is valid for openssl, but for no other text', async (t) => {
    assert.ok(await isGood(text, t))
    assert.ok(!(await isGood(text.replace('\n7\n', '\n8\n'), t)))
  })
})
