import assert from 'node:assert/strict'
import { mkdirSync, rmdirSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import type { PrivacyRequestKind } from '../../src/domain/privacy-request.ts'
import { FileJournal } from '../../src/journal.ts'
import { advanceRequest } from '../../src/operations/advance-privacy-request.ts'
import { cancelRequest, closeRequest, startRequest } from '../../src/operations/change-privacy-request.ts'
import { createRequest } from '../../src/operations/create-privacy-request.ts'
import { LedgerJournal } from '../../src/operations/journal.ts'
import { cancelGroup } from '../../src/operations/request-group.ts'
import { eventRow } from '../support/rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testKeys } from '../support/test-keyring.ts'
import { addTracker, noon, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()
const email = { name: 'email', value: 'ada@example.com' }

async function open(t: TestContext) {
  const view = await addTracker(deps(), fresh('shop'))
  const place = `${temporaryFolder(t)}/journal`
  const journal = new LedgerJournal(new FileJournal(place), deps())
  await journal.load()
  const all = { ...deps(), journal }
  /** Runs the work while the journal cannot be written, and returns the lines of the journal afterwards. */
  async function linesAfterFailure(work: () => Promise<unknown>) {
    mkdirSync(place)
    await assert.rejects(work, /the journal cannot be written/)
    rmdirSync(place)
    await journal.recover()
    const lines = []
    for await (const line of journal.read()) lines.push(line)
    return lines
  }
  const create = (kind: PrivacyRequestKind) => {
    const person = { identifiers: [email], subjects: [] }
    const wanted = { kind, person, receivedAt: null, reference: 'List', requestId: null }
    return createRequest(all, view, wanted, commandLine)
  }
  return { all, view, create, linesAfterFailure }
}

describe('a journal that was not writable when requests were closed', () => {
  it('gets the closing of a request without data', async (t) => {
    const { all, view, create, linesAfterFailure } = await open(t)
    const { id } = await create('access')
    const lines = await linesAfterFailure(() => closeRequest(all, view, id, commandLine))
    assert.partialDeepStrictEqual(lines, [
      { kind: 'nothing-held', index: 0 },
      { kind: 'closing', id, isLast: true },
    ])
    assert.equal(lines.length, 2)
  })

  it('gets every line of a long closing', async (t) => {
    const { all, view, create, linesAfterFailure } = await open(t)
    const identifiers = { email: email.value }
    const rows = Array.from({ length: 501 }, (_, i) =>
      eventRow({
        ...{ trackerId: view.trackerId, subjectId: `ada-${i}`, eventId: 'e', occurredAt: noon - 5 },
        identifiers,
      }),
    )
    await all.ingest.ingest(rows, testKeys)
    const { id } = await create('erasure')
    const request = await startRequest(all, view, id, commandLine)
    const lease = { now: noon, until: noon + 10, restsUntil: noon + 20, after: '' }
    assert.equal((await all.privacyRequests.lease('test', lease))?.id, id)
    assert.equal(await advanceRequest(all, 'test', view, request, commandLine), 'continues')
    const lines = await linesAfterFailure(() => cancelRequest(all, view, id, commandLine))
    assert.partialDeepStrictEqual(lines, [
      { kind: 'closing', id, from: 0, isLast: false },
      { kind: 'closing', id, from: 500, isLast: true },
    ])
  })

  it('gets the closings of all requests with one reference', async (t) => {
    const { all, view, create, linesAfterFailure } = await open(t)
    const ids = [(await create('erasure')).id, (await create('access')).id]
    const lines = await linesAfterFailure(() => cancelGroup(all, view.organisationId, 'List', 2, commandLine))
    const closed = lines.map((line) => (line.kind === 'closing' && line.isLast ? line.id : null))
    assert.deepEqual(closed.toSorted(), ids.toSorted())
  })
})
