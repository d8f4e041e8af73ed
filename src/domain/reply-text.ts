import type { ActivityNote } from './activity.ts'
import { englishReplies } from './english-replies.ts'
import { nearest, type Problems } from './errors.ts'
import { germanReplies } from './german-replies.ts'
import { countCharacters } from './identifier.ts'
import type { Instant } from './instant.ts'
import type { Language } from './language.ts'
import { isPrintable } from './organisation-profile.ts'

// Reply texts are what a member answers to a person: plain text with placeholders such as {dueAt}. Each has
// a default in each language, which an organisation can replace.

/** The outcomes of each kind of request, in the order in which they come up. */
const replyOutcomes = {
  access: ['received', 'more-information', 'extended', 'copy-ready', 'nothing-held', 'rejected'],
  erasure: [
    'received',
    'more-information',
    'extended',
    'erased',
    'already-deleted',
    'nothing-held',
    'rejected',
  ],
} as const

type RequestKind = keyof typeof replyOutcomes
type ReplyNames = { [Kind in RequestKind]: `${Kind}.${(typeof replyOutcomes)[Kind][number]}` }
export type ReplyName = ReplyNames[RequestKind]

export const replyNames: readonly ReplyName[] = [
  ...replyOutcomes.access.map((outcome) => `access.${outcome}` as const),
  ...replyOutcomes.erasure.map((outcome) => `erasure.${outcome}` as const),
]

export const defaultReplies: Readonly<Record<Language, Readonly<Record<ReplyName, string>>>> = {
  en: englishReplies,
  de: germanReplies,
}

/** A text that an organisation has replaced. */
export interface ReplyText {
  name: ReplyName
  language: Language
  text: string
  changedAt: Instant
}

export interface ReplyTextStore {
  /** The texts that the organisation has replaced, in no particular order. */
  list(organisationId: string): Promise<ReplyText[]>
  /** Adds or replaces a text. Returns `false` if there is no such organisation. */
  save(organisationId: string, text: ReplyText, note: ActivityNote): Promise<boolean>
  /** Returns `false`, and stores no `note`, if the text was not replaced. */
  restore(organisationId: string, name: ReplyName, language: Language, note: ActivityNote): Promise<boolean>
}

export const maxReplyLength = 10_000

/** What is known about a request when it is answered. */
export interface ReplyFacts {
  organisation: string
  contact: string | null
  reference: string
  receivedAt: Instant
  dueAt: Instant
  /** Now, as long as the request is open. */
  closedAt: Instant
  today: Instant
  subjects: number
  sessions: number
  events: number
  reason: string | null
  /** The address of the page that verifies receipts; `null` if there is none to verify. */
  verifyLink: string | null
}

type Placeholder = keyof ReplyFacts

const always = ['organisation', 'contact', 'reference', 'receivedAt', 'dueAt', 'today'] as const
const counts = ['subjects', 'sessions', 'events'] as const

const inOutcomes: Readonly<Record<string, readonly Placeholder[]>> = {
  extended: ['reason'],
  rejected: ['reason', 'closedAt'],
  'copy-ready': ['closedAt', ...counts],
  erased: ['closedAt', ...counts, 'verifyLink'],
  'already-deleted': ['closedAt'],
  'nothing-held': ['closedAt'],
}

export const placeholders: readonly Placeholder[] = [...always, 'closedAt', ...counts, 'reason', 'verifyLink']

/** The placeholders that a text may have. */
export function placeholdersIn(name: ReplyName): readonly Placeholder[] {
  const [, outcome = ''] = name.split('.')
  const own = inOutcomes[outcome] ?? []
  return [...always, ...own, ...(name === 'erasure.nothing-held' ? (['verifyLink'] as const) : [])]
}

/** Facts to try a text with. */
export const sampleFacts: Readonly<Record<Language, ReplyFacts>> = {
  en: sample('The reason given with the extension or rejection.'),
  de: sample('Die Begründung der Fristverlängerung oder Ablehnung.'),
}

function sample(reason: string): ReplyFacts {
  const day = (text: string) => Date.parse(`${text}T10:00:00Z`)
  return {
    ...{ organisation: 'Acme', contact: 'privacy@acme.example', reference: 'DSR-2026-014', reason },
    ...{ receivedAt: day('2026-11-03'), dueAt: day('2026-12-03') },
    ...{ closedAt: day('2026-11-18'), today: day('2026-11-18') },
    ...{ subjects: 2, sessions: 31, events: 1_248, verifyLink: 'https://lethe.example/verify' },
  }
}

/** A doubled brace, a placeholder, or a brace that is neither. */
const token = /\{\{|\}\}|\{([^{}\n]{1,64})\}|[{}]/g

/** Adds a problem that names the line of each mistake, up to three of them. */
export function checkReplyText(name: ReplyName, text: string, problems: Problems): void {
  if (text.trim() === '' || countCharacters(text) > maxReplyLength || !isPrintable(text)) {
    problems.add('text', `text must be 1 to ${maxReplyLength} characters, no control characters`)
    return
  }
  const mistakes: string[] = []
  for (const match of text.matchAll(token)) {
    const mistake = mistakeIn(name, match[0], match[1])
    if (mistake === null) continue
    const line = text.slice(0, match.index).split('\n').length
    if (mistakes.push(`line ${line}: ${mistake}`) === 3) break
  }
  if (mistakes.length > 0) problems.add('text', mistakes.join('; '))
}

function mistakeIn(name: ReplyName, found: string, placeholder: string | undefined): string | null {
  if (found === '{{' || found === '}}') return null
  if (placeholder === undefined) {
    return found === '{'
      ? '"{" does not start a placeholder; write "{{" for a brace'
      : '"}" does not end a placeholder; write "}}" for a brace'
  }
  const known = placeholdersIn(name)
  if (known.some((each) => each === placeholder)) return null
  if (isPlaceholder(placeholder)) return `${found} has no value in this text`
  return `${found} is not a placeholder; the nearest is {${nearest(placeholder, known)}}`
}

function isPlaceholder(text: string): text is Placeholder {
  return placeholders.some((name) => name === text)
}

/**
 * Fills the placeholders of a text that was checked. A line that consists of placeholders without a value is
 * left out, and so is one about receipts if there are none.
 */
export function fillReply(text: string, facts: ReplyFacts, language: Language): string {
  const lines: string[] = []
  const all = text.split('\n')
  for (const [i, line] of all.entries()) {
    const filled = fillLine(line, facts, language)
    if (filled !== null) lines.push(filled)
    // A paragraph that is left out leaves no gap.
    else if (lines.at(-1) === '' && all[i + 1] === '') lines.pop()
  }
  return lines.join('\n').trimEnd()
}

function fillLine(line: string, facts: ReplyFacts, language: Language): string | null {
  let isEmpty = false
  let isAboutNothing = false
  const filled = line.replaceAll(token, (found, name: string | undefined) => {
    if (name === undefined) return found.charAt(0)
    const value = isPlaceholder(name) ? formatFact(name, facts, language) : ''
    isEmpty ||= value === ''
    isAboutNothing ||= name === 'verifyLink' && value === ''
    return value
  })
  return isAboutNothing || (isEmpty && filled.trim() === '') ? null : filled
}

const locales: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' }

/** Days are in UTC. */
function formatFact(name: Placeholder, facts: ReplyFacts, language: Language): string {
  const locale = locales[language]
  switch (name) {
    case 'receivedAt':
    case 'dueAt':
    case 'closedAt':
    case 'today':
      return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(facts[name])
    case 'subjects':
    case 'sessions':
    case 'events':
      return new Intl.NumberFormat(locale).format(facts[name])
    default:
      return facts[name] ?? ''
  }
}
