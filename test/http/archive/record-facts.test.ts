import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { maxRecords, PersonFacts } from '../../../src/http/archive/record-facts.ts'

describe('what the index of an export knows about a person', () => {
  it('is without data for the records that are only listed', () => {
    const facts = new PersonFacts()
    const attributes = JSON.stringify({ note: 'x'.repeat(1_000) })
    const counts = { sessions: 1, events: 2 }
    for (let number = 1; number <= maxRecords.listed + 1; number++) {
      const subject = { trackerId: 'shop', subjectId: `subject-${number}` }
      const record = { ...subject, firstSeenAt: 1, lastSeenAt: 2, counts, attributes: {}, identifiers: [] }
      facts.begin(subject, { ...record, attributes: JSON.parse(attributes) }, `records/${number}.json`)
      facts.end()
    }
    assert.equal(facts.shown.length, maxRecords.shown)
    assert.equal(facts.shown[0]?.record.attributes.note, 'x'.repeat(1_000))
    assert.equal(facts.listed.length, maxRecords.listed)
    assert.ok(!JSON.stringify(facts.listed).includes('xxx'))
    assert.deepEqual(facts.totals, { records: 1_001, sessions: 1_001, events: 2_002 })
  })
})
