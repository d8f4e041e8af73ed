import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { defaultReplies, maxReplyLength, replyNames } from '../../src/domain/reply-text.ts'
import { dataOf, errorOf, listIn, problemFields, textIn } from '../support/answers.ts'
import { type ConsoleClient, openConsole } from '../support/console.ts'
import { startShop } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const client = await openConsole(shop, shop.organisationId)

const key = { name: 'access.received', language: 'en' }
const post = (path: string, body: object) => client.ask(path, { method: 'POST', body })
const save = (text: string) => post('/reply-texts', { ...key, text })
const restore = () => post('/reply-texts/restore', key)

/** The current text with the name and language of `key`. */
async function current(of: ConsoleClient = client): Promise<unknown> {
  const texts = listIn(dataOf(await of.ask('/reply-texts')), 'texts')
  return texts.find((text) => textIn(text, 'name') === key.name && textIn(text, 'language') === key.language)
}

const standard = defaultReplies.en['access.received']

describe('the reply texts in the console', () => {
  test('are the defaults at first, with their placeholders and a sample for each name and language', async () => {
    const data = dataOf(await client.ask('/reply-texts'))
    const texts = listIn(data, 'texts')
    assert.equal(texts.length, 2 * replyNames.length)
    for (const text of texts) assert.partialDeepStrictEqual(text, { changedAt: null })
    assert.partialDeepStrictEqual(await current(), {
      ...{ text: standard, default: standard },
      placeholders: ['organisation', 'contact', 'reference', 'receivedAt', 'dueAt', 'today'],
    })
    const samples = listIn(data, 'samples')
    assert.partialDeepStrictEqual(samples[0], { name: 'organisation', en: 'org-1', de: 'org-1' })
    assert.partialDeepStrictEqual(samples.slice(3), [
      { name: 'receivedAt', en: '3 November 2026', de: '3. November 2026' },
    ])
  })

  test('are replaced one at a time, until the default is restored', async () => {
    dataOf(await save('Hello,\r\nwe answer by {dueAt}. \n\n'))
    const own = await current()
    assert.partialDeepStrictEqual(own, { text: 'Hello,\nwe answer by {dueAt}.', default: standard })
    assert.ok(Date.parse(textIn(own, 'changedAt')) > 0)
    assert.equal((await shop.services.replyTexts.list(shop.organisationId)).length, 1)
    for (let i = 0; i < 2; i++) dataOf(await restore())
    assert.partialDeepStrictEqual(await current(), { text: standard, changedAt: null })
  })

  test('are not stored if they are the default', async () => {
    dataOf(await save('Own'))
    dataOf(await save(`${standard}\n`))
    assert.deepEqual(await shop.services.replyTexts.list(shop.organisationId), [])
  })

  test('are rejected because of unknown placeholders, and stay unchanged', async () => {
    dataOf(await save('Own'))
    const { details } = errorOf(await save('Due {dueDate}'), 'validation_error')
    assert.deepEqual(details, [
      { field: 'text', message: 'line 1: {dueDate} is not a placeholder; the nearest is {dueAt}' },
    ])
    for (const text of ['', '{verifyLink}', 'a {', 'x'.repeat(maxReplyLength + 1), 'x'.repeat(30_000)])
      assert.deepEqual(problemFields(await save(text)), ['text'])
    assert.deepEqual(problemFields(await post('/reply-texts', { name: 'x', language: 'fr', text: 'a' })), [
      'name',
      'language',
    ])
    assert.partialDeepStrictEqual(await current(), { text: 'Own' })
    dataOf(await save('🦦'.repeat(maxReplyLength)))
    dataOf(await restore())
  })

  test('belong to one organisation', async () => {
    const stranger = await openConsole(shop, await shop.createOrganisation())
    dataOf(await save('Own'))
    assert.partialDeepStrictEqual(await current(stranger), { text: standard, changedAt: null })
    dataOf(await restore())
  })

  test('are in the activity by name and language, without their content', async () => {
    const headers = { 'x-request-id': 'text-saved' }
    const body = { ...key, text: 'nobody-should-read-this' }
    for (let i = 0; i < 2; i++) dataOf(await client.ask('/reply-texts', { method: 'POST', body, headers }))
    dataOf(await client.ask('/reply-texts/restore', { method: 'POST', body: key, headers }))
    const entries = listIn(dataOf(await client.ask('/activity?requestId=text-saved')), 'entries')
    assert.equal(entries.length, 2)
    assert.partialDeepStrictEqual(entries, [
      { kind: 'reply-text.restored', target: 'access.received, en' },
      { kind: 'reply-text.changed', target: 'access.received, en' },
    ])
    assert.equal(JSON.stringify(entries).includes('nobody-should'), false)
  })
})
