import { identifierPattern, maxIdentifierLength } from '../../domain/identifier.ts'
import { defaultPageSize, maxPageSize } from '../../domain/page.ts'
import {
  identifierNamePattern,
  identifierValuePattern,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import { anyObject, count, integer, list, object, optional, orNull, type Schema, text } from '../schema.ts'

export const cursor = text({
  minLength: 1,
  maxLength: 4096,
  description:
    'The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters.',
  'x-rule': 'the nextCursor of the page before, of the same list, sort and filters',
})

export const pageSize = {
  format: 'int32',
  minimum: 1,
  maximum: maxPageSize,
  'x-rule': `a whole number from 1 to ${maxPageSize}`,
}

export const limit = integer({
  ...pageSize,
  default: defaultPageSize,
  description: 'How many to return at most.',
})

export const pageParameters = { limit: optional(limit), cursor: optional(cursor) }

export const id = () => text({ minLength: 1, maxLength: maxIdentifierLength, pattern: identifierPattern })
export const instant = (description: string) => text({ format: 'date-time', maxLength: 24, description })
export const page = <Item>(items: Schema<Item>) => list(items, { maxItems: maxPageSize })
export const freeForm = (description: string) => anyObject({ description })
export const nextCursor = orNull(text({ maxLength: 4096, pattern: '^[\\w-]+$' }), {
  description: 'Hand it back as `cursor` for the next page; `null` on the last one.',
})

export const Counts = object(
  { sessions: count('How many sessions.'), events: count('How many events.') },
  { title: 'Counts' },
)

export const Identifier = object(
  {
    name: text({
      maxLength: 32,
      pattern: identifierNamePattern,
      description: 'What kind it is, such as `email`.',
    }),
    value: text({ minLength: 1, maxLength: maxIdentifierValueLength, pattern: identifierValuePattern }),
  },
  { title: 'Identifier', description: 'Something a data subject is known by outside of its tracker.' },
)

export const receipt = text({
  description:
    'The proof of this erasure, a text in the format C2SP tlog-proof, which anybody can check against the key of the organisation’s ledger.',
})
