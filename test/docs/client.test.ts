import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from '@lethe/client'
import { defaultRetryPolicy } from '../../client/src/repeat.ts'
import { Requests } from '../../client/src/requests.ts'
import { Sender } from '../../client/src/sender.ts'
import { Variables } from '../../client/src/variables.ts'
import { code, codes, flat, read, section, tableRows } from './markdown.ts'

const page = read('docs/reference/client.md')

/** The field names of an interface, read from its source. */
function fieldsOf(file: string, name: string): string[] {
  const [, body = ''] =
    new RegExp(`export interface ${name}[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(read(file)) ?? []
  return Array.from(body.matchAll(/^ {2}(\w+)\??:/gm), ([, field = '']) => field)
}

test('the client page lists exactly the entry points of the package, and names what each exports', async () => {
  const { name, exports }: { name: string; exports: Record<string, string> } = JSON.parse(
    read('client/package.json'),
  )
  const rows = tableRows(section(page, 'Entry points'))
  const paths = Object.keys(exports).map((path) => name + path.slice(1))
  assert.deepEqual(
    rows.map(([path]) => code(path)),
    paths,
  )
  for (const [path = '', contents = ''] of rows) {
    const exported: object = await import(code(path))
    for (const each of codes(contents)) assert.ok(Object.hasOwn(exported, each), `${path} has no ${each}`)
  }
})

test('the client page lists exactly the methods of the client', () => {
  const documented = tableRows(section(page, 'Methods')).map(([call]) => code(call).replace(/\(.*/, ''))
  const methods = Object.getOwnPropertyNames(client.LetheClient.prototype)
  assert.deepEqual(
    documented,
    methods.filter((name) => name !== 'constructor'),
  )
})

test('the client page lists exactly the options of the client and of a call', () => {
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

test('the client page lists exactly the methods of requests', () => {
  const documented = tableRows(section(page, 'Requests')).map(([call]) => code(call).replace(/\(.*/, ''))
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(Requests.prototype))
  const methods = descriptors.filter(([, { value }]) => typeof value === 'function').map(([name]) => name)
  assert.deepEqual(
    documented,
    methods.filter((name) => name !== 'constructor'),
  )
})

test('the client page lists exactly the options of erasing many people and the fields of its progress', () => {
  const many = section(page, 'Erasing many people')
  assert.deepEqual(
    tableRows(many)
      .map(([option]) => code(option))
      .sort(),
    ['receivedAt', ...fieldsOf('client/src/erase-many.ts', 'EraseManyOptions')].sort(),
  )
  const [, progress = ''] = /\*\*Progress\*\* has (.*)\n/s.exec(many) ?? []
  const counts = fieldsOf('client/src/api.ts', 'RequestCounts')
  assert.deepEqual(
    codes(progress).sort(),
    [...fieldsOf('client/src/erase-many.ts', 'EraseManyProgress'), ...counts].sort(),
  )
})

test('the client page lists exactly the exported errors', () => {
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

test('the client page lists exactly the reasons for which a proof can fail and the fields of a valid one', () => {
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

test('the client page lists exactly the options and the members of variables', () => {
  const rows = tableRows(section(page, 'Variables')).map(([name]) => code(name).replace(/\(.*/, ''))
  const members = Object.getOwnPropertyNames(Variables.prototype).filter((name) => name !== 'constructor')
  assert.deepEqual(rows, [...fieldsOf('client/src/variables.ts', 'VariablesOptions'), ...members])
})

test('the client page lists exactly the options and the members of a sender, and the fields of a report', () => {
  const namesIn = (heading: string) =>
    tableRows(section(page, heading)).flatMap(([names = '']) =>
      codes(names).map((name) => name.replace(/\(.*/, '')),
    )
  const members = Object.getOwnPropertyNames(Sender.prototype).filter((name) => name !== 'constructor')
  assert.deepEqual(
    new Set(namesIn('Sender')),
    new Set([...fieldsOf('client/src/sender-options.ts', 'SenderOptions'), ...members]),
  )
  assert.deepEqual(namesIn('Ingest'), [
    ...fieldsOf('client/src/api.ts', 'Batch'),
    ...fieldsOf('client/src/ingest.ts', 'IngestReport'),
  ])
})

test('the client page states the retry policy', () => {
  const { maxAttempts, maxTotalMs, firstPauseMs, maxPauseMs } = defaultRetryPolicy
  const text = flat(section(page, 'Retries'))
  assert.ok(text.includes(`at most ${firstPauseMs} ms the first time`))
  assert.ok(text.includes(`never more than ${maxPauseMs / 1_000} s`))
  assert.ok(text.includes(`after ${maxAttempts} attempts`))
  assert.ok(text.includes(`more than ${maxTotalMs / 1_000} s`))
})
