import { formatInstant, type Instant } from '../../domain/instant.ts'
import { object, oneOf, type Schema, text } from '../schema.ts'

// What the console's answers hold. The types of its pages are made from these.

export const instant = text({ format: 'date-time' })

export const Nothing = object({})

export const Actor: Schema<{ kind: 'member' | 'key'; id: string; name: string } | { kind: 'command-line' }> =
  {
    anyOf: [
      object({ kind: oneOf(['member', 'key']), id: text(), name: text() }),
      object({ kind: oneOf(['command-line']) }),
    ],
  }

// As in the API, `x-rule` says in words what the schema says in keywords. Names and scopes are checked by the operations.

/** Whatever somebody typed; what it may be is the operation's to say. */
export const typed = text({ maxLength: 1_000, 'x-rule': 'a text of at most 1000 characters' })

/** PostgreSQL cannot even look for NUL. */
export const noControlCharacters = '^[^\\x00-\\x1f\\x7f-\\x9f]+$'

export function instantOrNull(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant)
}
