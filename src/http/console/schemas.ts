import { instantRule } from '../../domain/instant.ts'
import { emailRule, maxEmailLength } from '../../domain/member.ts'
import { maxPasswordLength, minPasswordLength } from '../../domain/password.ts'
import { plans } from '../../domain/plan.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import { maxPersonParts } from '../../operations/erasure-batch/erase-person.ts'
import { mostFound } from '../../operations/subject/find-people.ts'
import { eventListParameters, sessionListParameters } from '../api/schemas/parameters.ts'
import { identifier } from '../schemas/path-parameters.ts'
import { integer, list, object, oneOf, optional, orNull, text } from '../schemas/schema.ts'

// As in the API, `x-rule` says in words what the schema says in keywords. Names and scopes are checked by the operations.

/** Whatever somebody typed; what it may be is the operation's to say. */
export const typed = text({ maxLength: 1_000, 'x-rule': 'a text of at most 1000 characters' })

/** PostgreSQL cannot even look for NUL. */
const noControlCharacters = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'

export const email = text({
  minLength: 1,
  maxLength: maxEmailLength,
  pattern: noControlCharacters,
  'x-rule': emailRule,
})

export const password = text({
  minLength: 1,
  maxLength: 4 * maxPasswordLength,
  'x-rule': `${minPasswordLength} to ${maxPasswordLength} characters`,
})

export const token = text({ minLength: 1, maxLength: 200, 'x-rule': 'what stands in the link' })

export const organisation = optional(text(identifier))

export const scopeList = list(text({ maxLength: 100 }), {
  maxItems: 50,
  'x-rule': 'a list of scopes',
})

export const expiry = optional(orNull(text({ maxLength: 100 }), { 'x-rule': `${instantRule}, or null` }))

export const days = optional(
  integer({ minimum: 1, maximum: 40_000, 'x-rule': 'a whole number from 1 to 40000' }),
)

export const provenEntryParameters = {
  index: integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, 'x-rule': 'a whole number from 0 on' }),
}

const until = optional(text({ format: 'date-time', 'x-rule': instantRule }))

/** As the API's, from an instant on backwards. */
export const sessionsUntilParameters = { ...sessionListParameters, until }
export const eventsUntilParameters = { ...eventListParameters, until }

export const findBody = {
  text: text({ minLength: 1, maxLength: 300, 'x-rule': '1 to 300 characters' }),
  limit: optional(
    integer({ minimum: 1, maximum: mostFound, 'x-rule': `a whole number from 1 to ${mostFound}` }),
  ),
}

export const receiptBody = { ...provenEntryParameters, subjectId: text(identifier) }

const shortText = {
  minLength: 1,
  maxLength: 200,
  pattern: noControlCharacters,
  'x-rule': '1 to 200 characters, no control characters',
}

export const activityFilterParameters = {
  requestId: optional(text(shortText)),
  kind: optional(text({ ...shortText, 'x-rule': 'a kind of activity' })),
  actor: optional(text({ ...shortText, 'x-rule': 'the id of a member or a key, or command-line' })),
  since: optional(text({ maxLength: 100, 'x-rule': instantRule })),
  until: optional(text({ maxLength: 100, 'x-rule': instantRule })),
}

export const activityFormat = oneOf(['csv', 'json'], { 'x-rule': 'csv or json' })

export const activityListParameters = { ...sessionListParameters, ...activityFilterParameters }

/** How large a request with a list of people may be. */
export const maxListBytes = 4 * 1024 * 1024

/** The list of a batch, and what to make of it. */
export const batchFields = {
  text: text({ maxLength: maxListBytes, 'x-rule': 'a list, one data subject or person a line' }),
  format: oneOf(['lines', 'csv'], { 'x-rule': 'lines or csv' }),
  column: optional(text({ maxLength: 1_000, 'x-rule': 'the name of a column' })),
  by: oneOf(['subjectId', 'email'], { 'x-rule': 'subjectId or email' }),
  trackerIds: list(text(identifier), {
    maxItems: 1_000,
    'x-rule': 'a list of trackers, empty for all of them',
  }),
}

export const typedSubjects = integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-rule': 'how many data subjects are to be erased, as a whole number',
})

/** The place in a batch behind which a page of its certificate begins. */
export const certificateAfter = optional(integer({ minimum: 0, 'x-rule': 'a whole number from 0 on' }))

/** Whom an erasure is about. How many parts it may have together is the operation's to say. */
export const personField = object(
  {
    identifiers: list(
      object({
        name: text({ pattern: identifierNamePattern, 'x-rule': identifierNameRule }),
        value: text({
          ...{ minLength: 1, maxLength: maxIdentifierValueLength },
          ...{ pattern: identifierValuePattern, 'x-rule': identifierValueRule },
        }),
      }),
      { maxItems: maxPersonParts },
    ),
    subjects: list(object({ trackerId: text(identifier), subjectId: text(identifier) }), {
      maxItems: maxPersonParts,
    }),
  },
  { 'x-rule': 'identifiers and data subjects' },
)

export const plan = oneOf(plans, { 'x-rule': `one of ${plans.join(', ')}` })
