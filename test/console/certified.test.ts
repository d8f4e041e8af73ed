import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { wordsOf } from '../../console/src/pages/certificate-texts.ts'
import { daysBetween, type Missing, summarise } from '../../console/src/pages/certified.ts'
import type { Certificate } from '../../console/src/types.ts'
import type { Checked } from '../../console/src/verify.ts'

const nobodyMissing: Missing = { waiting: 0, stopped: 0, gone: 0, left: 0 }
const ada = { actor: { kind: 'member' as const, id: 'mem_1', name: 'ada@acme.example' }, requestId: 'r-1' }
const key = { actor: { kind: 'key' as const, id: 'key_1', name: 'shop' }, requestId: 'r-2' }

function checked(entry: Certificate['entry'], state: Checked['verdict']['state'] = 'verified'): Checked {
  const certificate = {
    ...{
      entry,
      record: '',
      proof: [],
      checkpoint: '',
      verifierKeys: [],
      trackerName: null,
      identifier: null,
    },
    ...{ scrub: { lastAt: '2026-11-01T00:00:00.000Z', reachesEveryByte: true }, receipt: null },
  }
  if (state !== 'verified') return { certificate, verdict: { state, why: '' } }
  const checkpoint = { origin: '', size: 9, rootHash: '', verifiedBy: [] }
  return { certificate, verdict: { state, checkpoint, hasReceipt: false } }
}

function erased(index: number, events: number, by: typeof ada | typeof key | null = ada): Checked {
  return checked({
    ...{ kind: 'erasure', index, trackerId: 'shop', alreadyErased: events === 0, by, request: null },
    ...{
      erasedAt: `2026-11-19T10:00:0${index % 10}.000Z`,
      counts: { sessions: Math.min(events, 1), events },
    },
  })
}

function nothing(index: number): Checked {
  return checked({ kind: 'nothing-held', index, checkedAt: '2026-11-19T09:00:00.000Z', request: null })
}

const request = {
  ...{ requestId: 'req-1', reference: null, receivedAt: '', dueAt: '', closedAt: null },
  ...{ kind: 'erasure' as const, state: 'done' as const, found: { subjects: 0 }, erased: { subjects: 0 } },
}
const noRequest = { excluded: 0, startedBy: null, request }

function ofPerson(missing: Partial<Missing> = {}) {
  return { isOfPerson: true, missing: { ...nobodyMissing, ...missing }, ...noRequest }
}

function cancelled(missing: Partial<Missing> = {}) {
  return { ...ofPerson(missing), request: { ...request, state: 'cancelled' as const } }
}

const single = { isOfPerson: false, missing: nobodyMissing, ...noRequest }

describe('the sentence of a certificate', () => {
  const cases = [
    {
      ...{ what: 'a person', entries: [erased(0, 3), erased(1, 2)], erasure: ofPerson() },
      en: 'Everything we held about one person was erased.',
      de: 'Alles, was wir über eine Person gespeichert hatten, wurde gelöscht.',
    },
    {
      ...{ what: 'a person with an identifier that found nothing', entries: [erased(0, 3), nothing(1)] },
      erasure: ofPerson(),
      en: 'Everything we held about one person was erased.',
      de: 'Alles, was wir über eine Person gespeichert hatten, wurde gelöscht.',
    },
    ...(['waiting', 'stopped', 'gone'] as const).map((reason) => ({
      ...{ what: `a person of whom something is ${reason}`, entries: [erased(0, 3)] },
      erasure: ofPerson({ [reason]: 1, left: 1 }),
      en: 'Part of what we held about one person was erased.',
      de: 'Ein Teil dessen, was wir über eine Person gespeichert hatten, wurde gelöscht.',
    })),
    {
      ...{ what: 'a person whose erasure was cancelled', entries: [erased(0, 3)] },
      erasure: cancelled({ stopped: 1 }),
      en: 'Part of what we held about one person was erased.',
      de: 'Ein Teil dessen, was wir über eine Person gespeichert hatten, wurde gelöscht.',
    },
    {
      ...{ what: 'a person whose erasure was cancelled before its last search', entries: [erased(0, 3)] },
      erasure: cancelled(),
      en: 'Everything we had found about one person was erased, but the request was closed before the last search.',
      de: 'Alles, was wir über eine Person gefunden hatten, wurde gelöscht, aber die Anfrage wurde vor der letzten Suche geschlossen.',
    },
    {
      ...{ what: 'a person of whom nothing was found until the erasure was cancelled' },
      ...{ entries: [erased(0, 0)], erasure: cancelled() },
      en: 'Nothing had been found about one person when the request was closed before the last search.',
      de: 'Bis die Anfrage vor der letzten Suche geschlossen wurde, war über eine Person nichts gefunden worden.',
    },
    {
      ...{ what: 'a person whose data was all deleted with its tracker', entries: [nothing(0)] },
      erasure: ofPerson({ gone: 2 }),
      en: 'Nothing of what we held about one person was erased by this request.',
      de: 'Nichts von dem, was wir über eine Person gespeichert hatten, wurde durch diese Anfrage gelöscht.',
    },
    {
      ...{ what: 'a person who came back', entries: [erased(0, 3)], erasure: ofPerson({ left: 2 }) },
      en: 'Everything we had found about one person was erased, but new data has arrived since.',
      de: 'Alles, was wir über eine Person gefunden hatten, wurde gelöscht, aber seitdem sind neue Daten eingegangen.',
    },
    {
      ...{ what: 'a person about whom nothing is held', entries: [nothing(0), nothing(1)] },
      erasure: ofPerson(),
      en: 'Nothing was held about one person.',
      de: 'Über eine Person war nichts gespeichert.',
    },
    {
      ...{ what: 'an identifier of a person about whom something else is held', entries: [nothing(0)] },
      erasure: { ...ofPerson(), request: { ...request, kind: 'access' as const, found: { subjects: 2 } } },
      en: 'Nothing was held under one identifier.',
      de: 'Unter einer Kennung war nichts gespeichert.',
    },
    {
      ...{
        what: 'one record, which need not be all of the person',
        entries: [erased(0, 3)],
        erasure: single,
      },
      en: 'Everything we held in one record was erased.',
      de: 'Alles, was wir in einem Datensatz gespeichert hatten, wurde gelöscht.',
    },
    {
      ...{
        what: 'entries by their numbers',
        entries: [erased(0, 3), erased(1, 1), erased(2, 0)],
        erasure: null,
      },
      en: 'Everything we held in 2 records was erased.',
      de: 'Alles, was wir in 2 Datensätzen gespeichert hatten, wurde gelöscht.',
    },
    {
      ...{ what: 'an erasure that found nothing', entries: [erased(0, 0)], erasure: null },
      en: 'Nothing was held under one ID.',
      de: 'Unter einer ID war nichts gespeichert.',
    },
    {
      ...{ what: 'an entry that nothing is held', entries: [nothing(0)], erasure: null },
      en: 'Nothing was held under one identifier.',
      de: 'Unter einer Kennung war nichts gespeichert.',
    },
    {
      ...{ what: 'entries that nothing is held', entries: [nothing(0), nothing(4)], erasure: null },
      en: 'Nothing was held under 2 identifiers.',
      de: 'Unter 2 Kennungen war nichts gespeichert.',
    },
  ]
  for (const { what, entries, erasure, ...sentences } of cases) {
    test(`is about ${what}`, () => {
      const { happened } = summarise({ checked: entries, digest: null, erasure })
      for (const language of ['en', 'de'] as const)
        assert.equal(wordsOf(language).texts.happened(happened), sentences[language])
    })
  }
})

describe('the summary of a certificate', () => {
  const of = (...entries: Checked[]) => summarise({ checked: entries, digest: null, erasure: null })

  test('counts records that held only data hidden by the plan', () => {
    const hidden = { ...ofPerson(), request: { ...request, erased: { subjects: 2 } } }
    const partly = summarise({ checked: [erased(0, 3), erased(1, 0)], digest: null, erasure: hidden })
    assert.deepEqual([partly.counts.records, partly.happened.what, partly.hasHidden], [2, 'erased', true])
    const wholly = summarise({ checked: [erased(0, 0), erased(1, 0)], digest: null, erasure: hidden })
    assert.deepEqual([wholly.counts.records, wholly.happened.what, wholly.hasHidden], [2, 'erased', true])
    const visible = summarise({ checked: [erased(0, 3)], digest: null, erasure: ofPerson() })
    assert.equal(visible.hasHidden, false)
  })

  test('counts records with data, and names each eraser once', () => {
    const summary = of(erased(3, 5), erased(4, 0), erased(5, 2, key), erased(6, 1), nothing(8))
    assert.deepEqual(summary.counts, { records: 3, sessions: 3, events: 8 })
    assert.deepEqual(summary.actors, [ada.actor, key.actor])
    assert.deepEqual(summary.requestIds, ['r-1', 'r-2'])
    assert.equal(summary.at, '2026-11-19T10:00:06.000Z')
    const answered = summarise({ checked: [erased(3, 5)], digest: null, erasure: ofPerson() })
    assert.deepEqual(answered.requestIds, ['req-1'], 'the request, not the call that began the erasure')
    assert.deepEqual(of(erased(0, 1, null)).actors, [])
  })

  test('numbers the entries from 1, in ranges', () => {
    assert.equal(of(erased(12, 1)).numbers, '13')
    assert.equal(of(erased(14, 1), erased(12, 1), erased(13, 1), erased(16, 1)).numbers, '13–15, 17')
    const scattered = [0, 2, 4, 6, 8].map((index) => erased(index, 1))
    assert.equal(of(...scattered).numbers, '1, 3, 5, 7, …')
  })

  test('is verified only if every entry is, and complete only if nothing is missing', () => {
    const entry = erased(0, 1).certificate.entry
    assert.equal(of(erased(0, 1)).state, 'verified')
    assert.equal(of(erased(0, 1), checked(entry, 'unknown')).state, 'unknown')
    assert.equal(of(checked(entry, 'unknown'), checked(entry, 'refused')).state, 'refused')
    const partly = { checked: [erased(0, 1)], digest: null, erasure: ofPerson({ left: 1 }) }
    assert.equal(summarise(partly).state, 'incomplete')
    const early = { checked: [erased(0, 1)], digest: null, erasure: cancelled() }
    assert.equal(summarise(early).state, 'incomplete')
  })

  test('counts calendar days', () => {
    assert.equal(daysBetween('2026-11-03T23:59:00.000Z', '2026-11-19T00:01:00.000Z'), 16)
    assert.equal(daysBetween('2026-11-03T00:01:00.000Z', '2026-11-03T23:59:00.000Z'), 0)
    for (const [language, texts] of [
      ['en', ['on the same day', 'after 1 day', 'after 16 days']],
      ['de', ['am selben Tag', 'nach 1 Tag', 'nach 16 Tagen']],
    ] as const)
      assert.deepEqual([0, 1, 16].map(wordsOf(language).texts.after), texts)
  })

  test('formats dates and numbers for the language, in UTC', () => {
    const at = '2026-03-09T23:05:06.000Z'
    const [en, de] = [wordsOf('en'), wordsOf('de')]
    assert.deepEqual(
      [en.day(at), en.moment(at), en.number(12_345)],
      ['9 March 2026', '9 Mar 2026, 23:05:06', '12,345'],
    )
    assert.deepEqual(
      [de.day(at), de.moment(at), de.number(12_345)],
      ['9. März 2026', '09.03.2026, 23:05:06', '12.345'],
    )
  })
})
