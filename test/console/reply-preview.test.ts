import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { previewOf } from '../../console/src/reply-preview.ts'
import {
  defaultReplies,
  fillReply,
  placeholders,
  replyNames,
  sampleFacts,
} from '../../src/domain/reply-text.ts'

const values = new Map(placeholders.map((name) => [name, fillReply(`{${name}}`, sampleFacts.en, 'en')]))

describe('the preview of a reply text', () => {
  test('matches what the service fills in', () => {
    for (const name of replyNames) {
      const text = `{{${defaultReplies.en[name]} }}`
      const shown = previewOf(text, values)
      assert.equal(shown.map((part) => part.text).join(''), fillReply(text, sampleFacts.en, 'en'))
      assert.ok(shown.every(({ kind }) => kind !== 'unknown'))
    }
  })

  test('marks filled-in and unknown placeholders', () => {
    assert.deepEqual(previewOf('By {dueAt}, {dueDate} {', values), [
      { text: 'By ', kind: 'plain' },
      { text: '3 December 2026', kind: 'filled' },
      { text: ', ', kind: 'plain' },
      { text: '{dueDate}', kind: 'unknown' },
      { text: ' {', kind: 'plain' },
    ])
    assert.deepEqual(previewOf('', values), [])
  })
})
