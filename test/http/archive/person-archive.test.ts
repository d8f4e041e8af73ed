import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { listIn, objectIn } from '../../support/answers.ts'
import { type ArchivedRecord, archiveContext, archiveOf, madeAt } from '../../support/person-archive.ts'
import { fileIn, readZip } from '../../support/zip.ts'

const ada: ArchivedRecord = {
  ...{ trackerId: 'shop', subjectId: 'visitor-1', events: 450 },
  properties: (event) => ({ url: `https://shop.example/${event}` }),
  attributes: { country: 'DE', browser: 'Firefox' },
  identifiers: [{ name: 'email', value: 'ada@example.com' }],
}

async function filesOf(...[records, context]: Parameters<typeof archiveOf>) {
  const files = readZip(await archiveOf(records, context))
  return { files, names: files.map(({ name }) => name), page: fileIn(files, 'index.html') }
}

function count(text: string, part: string | RegExp): number {
  return text.split(part).length - 1
}

describe('the archive of a person', () => {
  it('contains a numbered file for each record as the API returns it, its schema, and a page', async () => {
    const records = [ada, { ...ada, trackerId: 'a/ü b', events: 0, sessions: 1 }, { ...ada, trackerId: 'é' }]
    const { files, names } = await filesOf(records)
    assert.deepEqual(names, [
      'records/001-shop.json',
      'records/002-a-b.json',
      'records/003.json',
      'subject-export.schema.json',
      'index.html',
    ])
    for (const { modifiedAt } of files) assert.equal(modifiedAt.getTime(), madeAt)
    const ajv = new Ajv2020({ strict: false })
    ajvFormats.default(ajv)
    const schema = JSON.parse(fileIn(files, 'subject-export.schema.json'))
    const matches = ajv.compile(schema)
    for (const name of names.slice(0, 3)) {
      const record: unknown = JSON.parse(fileIn(files, name))
      assert.ok(matches(record), `${name}: ${ajv.errorsText(matches.errors)}`)
    }
    const first: unknown = JSON.parse(fileIn(files, 'records/001-shop.json'))
    assert.deepEqual(objectIn(first, 'counts'), { sessions: 45, events: 450 })
    assert.equal(listIn(first, 'sessions').length, 45)
    assert.equal(listIn(first, 'events').length, 450)
  })

  it('says so if no data is stored', async () => {
    const { names, page } = await filesOf([])
    assert.deepEqual(names, ['subject-export.schema.json', 'index.html'])
    assert.match(page, /Acme Furniture has looked for data about you, and found none\./)
    assert.match(page, /ada@example\.com/)
    assert.doesNotMatch(page, /Infinity|NaN|Invalid/)
  })

  it('does not claim that no data is stored if a shorter plan hides it', async () => {
    const { page } = await filesOf([], { hasHidden: true })
    assert.doesNotMatch(page, /found none/)
    assert.match(
      page,
      /Data older than its retention period will soon be deleted and is not part of this copy\./,
    )
  })
})

describe('the page of an archive', () => {
  it('states the person, data, dates, sources, retention and contact', async () => {
    const { page } = await filesOf([ada, { ...ada, trackerId: 'blog', events: 12 }])
    for (const words of [
      'Your data at Acme Furniture',
      'This is a copy of the data that Acme Furniture has recorded about you.',
      '3 November 2026',
      'DSR-17',
      'From 10 August 2026 to 29 August 2026.',
      '<strong>462</strong> events',
      'Record 2: <bdi>Acme journal</bdi>',
      'Germany (DE)',
      '45 visits, 450 events, on 20 days',
      'We keep visits and events for 425 days.',
      'The oldest data in this copy will be deleted on 9 October 2027.',
      'Data protection\nprivacy@acme.example',
      'Please mention the reference DSR-17.',
    ])
      assert.ok(page.includes(words), words)
    assert.doesNotMatch(page, /undefined|null|\[object|NaN|Infinity/)
  })

  it('shows a range of one day as a single date', async () => {
    const { page } = await filesOf([{ ...ada, events: 0, sessions: 1 }])
    assert.ok(page.includes('<p>On 10 August 2026.</p>'))
  })

  it('is available in German', async () => {
    const { page } = await filesOf([ada], { language: 'de' })
    for (const part of [
      '<html lang="de">',
      'Ihre Daten bei Acme Furniture',
      'Vom 10. August 2026 bis zum 29. August 2026.',
      'Deutschland (DE)',
      '45 Besuche, 450 Ereignisse, an 20 Tagen',
      'Die neuesten 200 von 450. Alle 450 sind in records/001-shop.json.',
    ])
      assert.ok(page.includes(part), part)
    const words = page.slice(page.indexOf('<body>')).replaceAll(/<[^>]*>/g, ' ')
    assert.doesNotMatch(words, /\b(the|your|of|visits|events|days)\b/i)
  })

  it('shows the newest of many rows and names the file that contains the others', async () => {
    const { page } = await filesOf([{ ...ada, events: 3_000 }])
    assert.ok(page.includes('The newest 200 of 3,000. All 3,000 are in records/001-shop.json.'))
    assert.ok(page.includes('The newest 50 of 300.'))
    assert.equal(count(page, '<bdi>https://shop.example/'), 200)
    assert.ok(page.includes('https://shop.example/2999<') && page.includes('https://shop.example/2800<'))
    assert.ok(!page.includes('https://shop.example/2799<'))
    assert.ok(page.indexOf('/2999<') < page.indexOf('/2800<'), 'newest first')
  })

  it('stays small, however many records, names and details the archive has', async () => {
    const many = Array.from({ length: 1_100 }, (_, i) => ({ ...ada, subjectId: `v${i}`, events: 50 }))
    const { page } = await filesOf(many)
    assert.equal(count(page, '<section id="record-'), 50)
    assert.ok(page.includes('There are 1,050 more records.'))
    assert.ok(page.includes('100 more files in the folder'))
    assert.ok(page.includes('<strong>55,000</strong> events'))
    // The last of the records with a section has no room left for events.
    assert.ok(page.includes('All 50 are in records/050-shop.json.'))
    assert.ok(page.length < 2e6, `${page.length} characters`)
    const varied = await filesOf([
      {
        ...ada,
        events: 3_000,
        name: (event) => (event % 2 === 0 ? 'pageview' : `name-${event}`),
        properties: () => Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`field${i}`, i])),
      },
    ])
    assert.ok(varied.page.includes('All other names'))
    const [, others] = /All other names<\/th><td class="number">([\d,]+)</.exec(varied.page) ?? []
    assert.equal(others, (1_500 - 19).toLocaleString('en'))
    assert.ok(varied.page.includes('and 28 more, see the file'))
    const long = await filesOf([{ ...ada, properties: () => ({ text: 'x'.repeat(50_000) }) }])
    assert.equal(count(long.page, 'Too long for this page; see the file.'), 200)
    assert.ok(long.page.length < 100_000, `${long.page.length} characters`)
  })

  it('escapes markup in values and loads no external resource', async () => {
    const evil = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`
    const { page } = await filesOf(
      [
        {
          ...{ trackerId: 'shop', subjectId: evil, events: 3, name: () => evil },
          properties: () => ({ [evil]: evil, deep: { [evil]: [evil] } }),
          attributes: { [evil]: evil, country: evil, constructor: evil, toString: evil },
          identifiers: [{ name: 'email', value: evil }],
        },
      ],
      {
        trackers: new Map([['shop', evil]]),
        organisation: { name: evil, contact: evil },
        request: { reference: evil, receivedAt: madeAt, identifiers: [{ name: 'email', value: evil }] },
      },
    )
    assert.ok(count(page, '&lt;script&gt;') > 15)
    assert.doesNotMatch(page, /<script|<img|<link|<iframe|@import|url\(/)
    assert.match(
      page,
      /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">/,
    )
    for (const [, target] of page.matchAll(/(?:href|src)="([^"]*)"/g))
      assert.match(target ?? '', /^(#record-\d+|records\/001-shop\.json|subject-export\.schema\.json)$/)
  })

  it('is readable without a contact, a reference or an identifier', async () => {
    const { page } = await filesOf([ada], {
      organisation: { name: 'Acme', contact: null },
      request: { ...archiveContext.request, reference: null, identifiers: [] },
    })
    assert.match(page, /reply to the message with which Acme sent you this copy/)
    assert.match(page, /We looked up the records that your request names\./)
    assert.doesNotMatch(page, /Reference|null/)
  })
})
