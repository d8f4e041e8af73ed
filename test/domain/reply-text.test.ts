import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problems } from '../../src/domain/errors.ts'
import { languages } from '../../src/domain/language.ts'
import {
  checkReplyText,
  defaultReplies,
  fillReply,
  maxReplyLength,
  placeholders,
  placeholdersIn,
  replyNames,
  sampleFacts,
} from '../../src/domain/reply-text.ts'

const facts = sampleFacts.en

function problemsOf(text: string, name = replyNames[0] ?? assert.fail()): string | undefined {
  const problems = new Problems()
  checkReplyText(name, text, problems)
  return problems.list()[0]?.message
}

describe('a filled reply', () => {
  it('formats days and numbers for its language', () => {
    const text = '{receivedAt} | {dueAt} | {events}'
    assert.equal(fillReply(text, facts, 'en'), '3 November 2026 | 3 December 2026 | 1,248')
    assert.equal(fillReply(text, facts, 'de'), '3. November 2026 | 3. Dezember 2026 | 1.248')
    const midnight = { ...facts, dueAt: Date.parse('2026-03-01T00:00:00Z') }
    assert.equal(fillReply('{dueAt}', midnight, 'de'), '1. März 2026')
  })

  it('has no placeholders left, and leaves values unchanged', () => {
    const odd = { ...facts, reference: '{reason} $& {{', contact: 'a\nb' }
    assert.equal(fillReply('{reference}: {contact}', odd, 'en'), '{reason} $& {{: a\nb')
    for (const name of placeholders) assert.doesNotMatch(fillReply(`{${name}}`, facts, 'en'), /[{}]/)
  })

  it('omits lines of placeholders without a value', () => {
    const nobody = { ...facts, contact: null, reason: null }
    assert.equal(fillReply('Regards\n{organisation}\n{contact}\n', nobody, 'en'), 'Regards\nAcme')
    assert.equal(fillReply('a\n {contact} {reason} \nb {reason}c', nobody, 'en'), 'a\nb c')
    assert.equal(fillReply('a\n\nb', nobody, 'en'), 'a\n\nb')
    assert.equal(fillReply('a\n\n{contact}\n\nb', nobody, 'en'), 'a\n\nb')
    assert.equal(fillReply('a\n\n{contact}\nb', nobody, 'en'), 'a\n\nb')
  })

  it('omits text about receipts if there are none', () => {
    const unproven = { ...facts, verifyLink: null }
    assert.equal(fillReply('a\n\nVerify the receipts: {verifyLink}.\n\nb', unproven, 'en'), 'a\n\nb')
    for (const language of languages) {
      const text = fillReply(defaultReplies[language]['erasure.nothing-held'], unproven, language)
      assert.doesNotMatch(text, /receipt|certificate|Beleg|Bescheinigung|\n\n\n/)
    }
  })

  it('contains single braces for double ones', () => {
    assert.equal(fillReply('{{organisation}} {{{organisation}}}', facts, 'en'), '{organisation} {Acme}')
  })
})

describe('a reply text', () => {
  const refused: [text: string, problem: string][] = [
    ['{recievedAt}', 'line 1: {recievedAt} is not a placeholder; the nearest is {receivedAt}'],
    ['{Organisation}', 'line 1: {Organisation} is not a placeholder; the nearest is {organisation}'],
    ['a\n\n{ dueAt }', 'line 3: { dueAt } is not a placeholder; the nearest is {dueAt}'],
    ['{verifyLink}', 'line 1: {verifyLink} has no value in this text'],
    ['{constructor}', 'line 1: {constructor} is not a placeholder; the nearest is {contact}'],
    ['a { b', 'line 1: "{" does not start a placeholder; write "{{" for a brace'],
    [
      '{dueAt\n}',
      'line 1: "{" does not start a placeholder; write "{{" for a brace; line 2: "}" does not end a placeholder; write "}}" for a brace',
    ],
    [
      '{}',
      'line 1: "{" does not start a placeholder; write "{{" for a brace; line 1: "}" does not end a placeholder; write "}}" for a brace',
    ],
    [
      `{${'x'.repeat(65)}}`,
      'line 1: "{" does not start a placeholder; write "{{" for a brace; line 1: "}" does not end a placeholder; write "}}" for a brace',
    ],
    [
      '{a}{b}{c}{d}',
      'line 1: {a} is not a placeholder; the nearest is {today}; line 1: {b} is not a placeholder; the nearest is {dueAt}; line 1: {c} is not a placeholder; the nearest is {dueAt}',
    ],
  ]
  for (const [text, problem] of refused) {
    it(`is rejected with the line and the nearest placeholder: ${JSON.stringify(text.slice(0, 20))}`, () => {
      assert.equal(problemsOf(text), problem)
    })
  }

  it('is rejected if it is empty, too long or not printable', () => {
    const rule = 'text must be 1 to 10000 characters, no control characters'
    for (const text of ['', ' \n ', 'x'.repeat(maxReplyLength + 1), 'a\u0007', 'a\u0000', '\ud800'])
      assert.equal(problemsOf(text), rule)
    for (const text of ['🦦'.repeat(maxReplyLength), 'a\tb\nc', '{{dueAt}}'])
      assert.equal(problemsOf(text), undefined)
  })
})

describe('a default text', () => {
  for (const language of languages) {
    for (const name of replyNames) {
      const text = defaultReplies[language][name]
      it(`is valid and complete: ${name}, ${language}`, () => {
        assert.equal(problemsOf(text, name), undefined)
        const filled = fillReply(text, sampleFacts[language], language)
        assert.doesNotMatch(filled, /[{}]|undefined|null| $/m)
        for (const needed of ['receivedAt', 'organisation', 'contact', 'reference'])
          assert.ok(text.includes(`{${needed}}`), needed)
        if (placeholdersIn(name).includes('reason')) assert.ok(text.includes('\n\n{reason}\n\n'))
      })
    }
  }

  it('states the articles that apply', () => {
    for (const { en, de } of replyNames.map((name) => ({
      en: [name, defaultReplies.en[name]] as const,
      de: [name, defaultReplies.de[name]] as const,
    }))) {
      for (const [name, text] of [en, de]) {
        const articles = /^\S+\.(?:extended|more-information)$/.test(name)
          ? [name.endsWith('extended') ? /12(?:\(| Abs\. )3/ : /12(?:\(| Abs\. )6/]
          : [name.startsWith('access') ? /\b15\b/ : /\b17\b/]
        // Article 12(4): a rejected person must be informed of the right to complain and to go to court.
        if (name.endsWith('rejected'))
          articles.push(/\b77\b/, /\b79\b/, /complaint|beschweren/, /court|Gericht/)
        for (const article of articles) assert.match(text, article, name)
      }
    }
  })
})
