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
    'The `nextCursor` of the previous page. It is opaque, and valid only for the same list, sort order and filters.',
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
  description: 'The maximum number of items to return.',
})

export const pageParameters = { limit: optional(limit), cursor: optional(cursor) }

export const id = () => text({ minLength: 1, maxLength: maxIdentifierLength, pattern: identifierPattern })
export const instant = (description: string) => text({ format: 'date-time', maxLength: 24, description })
export const page = <Item>(items: Schema<Item>) => list(items, { maxItems: maxPageSize })
export const freeForm = (description: string) => anyObject({ description })
export const nextCursor = orNull(text({ maxLength: 4096, pattern: '^[\\w-]+$' }), {
  description: 'The `cursor` of the next page; `null` on the last page.',
})

export const Counts = object(
  { sessions: count('The number of sessions.'), events: count('The number of events.') },
  { title: 'Counts' },
)

export const Identifier = object(
  {
    name: text({
      maxLength: 32,
      pattern: identifierNamePattern,
      description: 'The kind of identifier, such as `email`.',
    }),
    value: text({ minLength: 1, maxLength: maxIdentifierValueLength, pattern: identifierValuePattern }),
  },
  {
    title: 'Identifier',
    description: 'A name and a value that identify a data subject outside of its tracker.',
  },
)

export const receipt = text({
  description:
    'The proof of this erasure in the format C2SP tlog-proof. Anyone can verify it with the key of the organisation’s ledger.',
})
