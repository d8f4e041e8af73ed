import { identifier } from '../parameters.ts'
import { integer, object, oneOf, orNull, type Schema, text } from '../schema.ts'

// Fields of the console's responses. The types of its pages are generated from them.

export const instant = text({ format: 'date-time' })

export const Nothing = object({})

export const SubjectRef = object({ trackerId: text(), subjectId: text() }, { title: 'SubjectRef' })

export const Actor: Schema<{ kind: 'member' | 'key'; id: string; name: string } | { kind: 'command-line' }> =
  {
    anyOf: [
      object({ kind: oneOf(['member', 'key']), id: text(), name: text() }),
      object({ kind: oneOf(['command-line']) }),
    ],
  }

/** The request that an entry is about or was part of, if it still exists. */
export const AboutRequest = orNull(object({ id: text(), reference: orNull(text()) }))

// As in the API, `x-rule` describes the schema in words. The operations check names and scopes.

/** Any text; the operation validates it. */
export const typed = text({ maxLength: 1_000, 'x-rule': 'a text of at most 1000 characters' })

/** A count or a version that members confirm. */
export function wholeCount(rule: string): Schema<number> {
  return integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, 'x-rule': rule })
}

/** A subject that members name. */
export const subjectRefFields = { trackerId: text(identifier), subjectId: text(identifier) }

/** PostgreSQL cannot compare with a NUL character. */
export const noControlCharacters = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'
