import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from '@lethe/client'
import { defaultRetryPolicy } from '../../client/src/repeat.ts'
import { code, codes, flat, read, section, tableRows } from './markdown.ts'

const page = read('docs/reference/client.md')

/** The names of the fields of an interface, as its source has them. */
function fieldsOf(file: string, name: string): string[] {
  const [, body = ''] =
    new RegExp(`export interface ${name}[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(read(file)) ?? []
  return Array.from(body.matchAll(/^ {2}(\w+)\??:/gm), ([, field = '']) => field)
}

test('the client page lists every method with its parameters, and no other', () => {
  const documented = tableRows(section(page, 'Methods')).map(([call]) => code(call).replace(/\(.*/, ''))
  const methods = Object.getOwnPropertyNames(client.LetheClient.prototype)
  assert.deepEqual(
    documented,
    methods.filter((name) => name !== 'constructor'),
  )
})

test('the client page lists every option of the client and of a call, and no other', () => {
  assert.deepEqual(
    tableRows(section(page, 'Options')).map(([option]) => code(option)),
    [
      ...fieldsOf('client/src/transport.ts', 'LetheClientOptions'),
      ...fieldsOf('client/src/transport.ts', 'CallOptions'),
    ],
  )
  const [retry = ''] = tableRows(section(page, 'Options'))
    .filter(([option]) => option === '`retry`')
    .map(([, takes]) => takes)
  assert.deepEqual(codes(retry), fieldsOf('client/src/repeat.ts', 'RetryPolicy'))
})

test('the client page lists every option of a batch and all that its progress tells, and no other', () => {
  const batches = section(page, 'Batches')
  assert.deepEqual(
    tableRows(batches).map(([option]) => code(option)),
    fieldsOf('client/src/erase-batch.ts', 'BatchOptions'),
  )
  const [, progress = ''] = /\*\*Progress\*\* has ([^.]*)\./.exec(batches) ?? []
  assert.deepEqual(codes(progress).sort(), fieldsOf('client/src/batch-tally.ts', 'BatchProgress').sort())
})

test('the client page lists every error, and no other', () => {
  const errors = Object.entries(client)
    .filter(
      ([name, value]) => name.endsWith('Error') && name !== 'ClientError' && typeof value === 'function',
    )
    .map(([name]) => name)
  assert.deepEqual(
    tableRows(section(page, 'Errors'))
      .map(([name]) => code(name))
      .sort(),
    errors.sort(),
  )
})

test('the client page lists every reason for which a proof can fail, and all that a proof tells', () => {
  const receipts = section(page, 'Receipts')
  const [, union = ''] =
    /type VerificationFailure =(.*?)\n\n/s.exec(read('client/src/verification-error.ts')) ?? []
  const reasons = Array.from(union.matchAll(/'(\w+)'/g), ([, reason]) => reason)
  const rows = tableRows(receipts)
  assert.deepEqual(
    rows.filter((row) => row.length === 2).map(([reason]) => code(reason)),
    reasons,
  )
  const functions = rows.filter((row) => row.length === 3)
  assert.deepEqual(
    functions.map(([call]) => code(call).replace(/\(.*/, '')).sort(),
    Object.keys(client).filter((name) => name.startsWith('verify')),
  )
  const told = Object.fromEntries(
    functions.map(([call, , gives = '']) => [code(call).replace(/\(.*/, ''), codes(gives)]),
  )
  assert.deepEqual(told, {
    verifyReceipt: fieldsOf('client/src/verify-receipt.ts', 'VerifiedReceipt'),
    verifyCheckpoint: [
      ...fieldsOf('client/src/verify-checkpoint.ts', 'VerifiedCheckpoint'),
      ...fieldsOf('client/src/verify-checkpoint.ts', 'TreeHead'),
    ],
    verifyConsistency: fieldsOf('client/src/verify-consistency.ts', 'VerifiedConsistency'),
  })
})

test('the client page gives the figures by which requests are repeated', () => {
  const { maxAttempts, maxTotalMs, firstPauseMs, maxPauseMs } = defaultRetryPolicy
  const text = flat(section(page, 'Retries'))
  assert.ok(text.includes(`at most ${firstPauseMs} ms the first time`))
  assert.ok(text.includes(`never more than ${maxPauseMs / 1_000} s`))
  assert.ok(text.includes(`after ${maxAttempts} attempts`))
  assert.ok(text.includes(`more than ${maxTotalMs / 1_000} s`))
})
