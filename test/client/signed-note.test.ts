import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { openNote } from '../../client/src/signed-note.ts'
import { VerificationError, type VerificationFailure } from '../../client/src/verification-error.ts'
import { parseVerifierKey } from '../../client/src/verifier-key.ts'
import { noteSigner, signNote } from '../support/make-receipt.ts'

// The notes and keys that golang.org/x/mod/sumdb/note is tested with.
const peterKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const peterSeed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1)
const enochKey = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
const text =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
const peter =
  '\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
const enoch =
  '\u2014 EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n'

async function signersOf(note: string, keys: string[]): Promise<string[]> {
  const opened = await openNote(note, keys)
  assert.equal(opened.text, text)
  return opened.signers.map(({ vkey }) => vkey)
}

async function refuses(work: Promise<unknown>, reason: VerificationFailure, what?: string): Promise<void> {
  await assert.rejects(work, (error) => error instanceof VerificationError && error.reason === reason, what)
}

describe('the published notes', () => {
  it('of the C2SP specification opens with its key', async () => {
    const message = 'This is an example message.\n'
    const signature =
      '\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
    const key = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
    const { text, signers } = await openNote(`${message}\n${signature}`, [key])
    assert.equal(text, message)
    assert.deepEqual(
      signers.map(({ name }) => name),
      ['example.com/foo'],
    )
  })

  it('of x/mod match the generator of the tests', () => {
    const signer = noteSigner('PeterNeumann', peterSeed)
    assert.equal(signer.vkey, peterKey)
    assert.equal(signNote(text, [signer]), `${text}\n${peter}`)
  })

  it('of x/mod open with one or two of their keys, and with no other', async () => {
    const note = `${text}\n${peter}${enoch}`
    assert.deepEqual(await signersOf(note, [peterKey]), [peterKey])
    assert.deepEqual(await signersOf(note, [enochKey, peterKey]), [peterKey, enochKey])
    assert.deepEqual(await signersOf(note, [enochKey, enochKey]), [enochKey])
    assert.deepEqual(await signersOf(`${text}\n${peter}${peter}`, [peterKey]), [peterKey])
    await refuses(openNote(note, []), 'unknown_key')
    await refuses(openNote(`${text}\n${peter}`, [enochKey]), 'unknown_key')
  })

  it('of x/mod do not open if a known key has an invalid signature, even if another is valid', async () => {
    const bad = `${enoch.slice(0, 60)}ABCD${enoch.slice(60)}`
    await refuses(openNote(`${text}\n${peter}${bad}`, [peterKey, enochKey]), 'bad_signature')
    await refuses(openNote(`${text}\n${enoch}${bad}`, [enochKey]), 'bad_signature')
    assert.deepEqual(await signersOf(`${text}\n${peter}${bad}`, [peterKey]), [peterKey])
    await refuses(openNote(`${text.replace('If', 'Of')}\n${peter}`, [peterKey]), 'bad_signature')
  })

  it('of x/mod do not open under another name or key ID', async () => {
    const misnamed = peter.replace('PeterNeumann', 'CarmenSandiego')
    await refuses(openNote(`${text}\n${misnamed}`, [peterKey]), 'unknown_key')
    await refuses(openNote(`${text}\n${peter.replace('x08g', 'xxxx')}`, [peterKey]), 'unknown_key')
  })

  it('of x/mod do not open if they are malformed', async () => {
    const notes = [
      '',
      text,
      `${text}\n`,
      `${text}\n${peter.slice(0, -1)}`,
      `\u0001${text}\n${peter}`,
      `\ud800${text}\n${peter}`,
      `${text.replace('\n', '\r\n')}\n${peter}`,
      `${text}\n${peter.replace('PeterNeumann', 'Bad Name')}`,
      `${text}\n${peter.replace('PeterNeumann', 'Bad+Name')}`,
      `${text}\n${peter.replace('PeterNeumann', 'Bad\u00a0Name')}`,
      `${text}\n${peter.replace('\u2014', '-')}`,
      `${text}\n${peter.replace('AM=', 'AM')}`,
      `${text}\n${peter.replace('AM=', 'AN=')}`,
      `${text}\n${peter.replace('=\n', '= \n')}`,
      `${text}\n${peter}Unexpected line.\n`,
      `${text}\n${peter}\n`,
      `${text}\n\u2014 PeterNeumann x08gow==\n`,
      `${text}\n${peter.repeat(101)}`,
    ]
    for (const note of notes) await refuses(openNote(note, [peterKey]), 'malformed_checkpoint', note)
    assert.deepEqual(await signersOf(`${text}\n${peter.repeat(100)}`, [peterKey]), [peterKey])
  })
})

/** A verifier key with these bytes and the matching ID. */
function keyOf(typed: Uint8Array): string {
  const id = createHash('sha256').update('PeterNeumann\n').update(typed).digest('hex').slice(0, 8)
  return `PeterNeumann+${id}+${Buffer.from(typed).toString('base64')}`
}

describe('a verifier key', () => {
  it('is accepted only in its exact form', async () => {
    for (const vkey of [peterKey, `${peterKey}\n`]) {
      assert.equal((await parseVerifierKey(vkey)).name, 'PeterNeumann')
    }
    const wrong = [
      ...Array.from(peterKey, (_, i) => peterKey.slice(0, i)),
      ...Array.from(peterKey, (_, i) => peterKey.slice(i + 1)),
      ...Array.from(peterKey, (each, i) => {
        const next = String.fromCharCode(each.charCodeAt(0) + 1)
        return peterKey.slice(0, i) + next + peterKey.slice(i + 1)
      }),
      peterKey.replace('c74f20a3', 'C74F20A3'),
      ` ${peterKey}`,
      `${peterKey} `,
      `${peterKey}\r\n`,
      `\n${peterKey}`,
      `${peterKey}\n${peterKey}`,
      // Keys that are too long or too short, and one of another type, each with the matching ID.
      keyOf(Uint8Array.of(1, ...new Uint8Array(33))),
      keyOf(Uint8Array.of(1, ...new Uint8Array(31))),
      'PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==',
      'PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    ]
    for (const vkey of wrong) await refuses(parseVerifierKey(vkey), 'malformed_key', vkey)
  })
})
