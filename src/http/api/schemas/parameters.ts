import { maxIdentifierLength } from '../../../domain/identifier.ts'
import { instantRule } from '../../../domain/instant.ts'
import { defaultPageSize, maxPageSize } from '../../../domain/page.ts'
import { subjectSorts } from '../../../domain/subject.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../../domain/subject-identifier.ts'
import { identifier } from '../../schemas/path-parameters.ts'
import { integer, object, oneOf, optional, text } from '../../schemas/schema.ts'

const cursor = text({
  minLength: 1,
  maxLength: 4096,
  description:
    'The `nextCursor` of the page before. Opaque, and good only for the same list, sort and filters.',
  'x-rule': 'the nextCursor of the page before, of the same list, sort and filters',
})

const pageSize = {
  format: 'int32',
  minimum: 1,
  maximum: maxPageSize,
  'x-rule': `a whole number from 1 to ${maxPageSize}`,
}

const limit = integer({
  ...pageSize,
  default: defaultPageSize,
  description: 'How many to return at most.',
})

/** Generated clients take a field of a body with a default for one that is always there. */
const bodyLimit = integer({
  ...pageSize,
  description: `How many to return at most; ${defaultPageSize} without it.`,
})

const instant = { type: 'string', format: 'date-time', 'x-rule': instantRule }

export const subjectListParameters = {
  limit: optional(limit),
  cursor: optional(cursor),
  sort: optional(
    oneOf(subjectSorts, {
      description:
        'The order. `subjectId`, the default, walks a tracker completely whatever happens meanwhile. With a `lastSeen…` filter the default is `lastSeenAt`.',
      'x-rule': `one of ${subjectSorts.join(', ')}`,
    }),
  ),
  subjectIdPrefix: optional(
    text({
      ...identifier,
      pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$',
      description: 'Only ids that start with this. Goes with `sort=subjectId`.',
      'x-rule': `1 to ${maxIdentifierLength} characters, no control characters`,
    }),
  ),
  lastSeenAfter: optional(
    text({
      ...instant,
      description: 'Only subjects last seen at this instant or later. Goes with a `lastSeenAt` sort.',
    }),
  ),
  lastSeenBefore: optional(
    text({
      ...instant,
      description: 'Only subjects last seen before this instant. Goes with a `lastSeenAt` sort.',
    }),
  ),
}

/** What the body of a search may hold. */
export const subjectSearchBody = {
  identifier: optional(
    object(
      {
        name: text({
          maxLength: 32,
          pattern: identifierNamePattern,
          description: 'What kind it is, such as `email`.',
        }),
        value: text({
          minLength: 1,
          maxLength: maxIdentifierValueLength,
          pattern: identifierValuePattern,
          description: 'An `email` is compared without regard to case, whatever else exactly.',
        }),
      },
      {
        additionalProperties: false,
        description: 'Whoever is known by this, in whichever tracker. Goes without `subjectId`.',
        'x-rule': `an object with a name (${identifierNameRule}) and a value (${identifierValueRule})`,
      },
    ),
  ),
  subjectId: optional(
    text({
      ...identifier,
      description: 'The data subjects with this id, in whichever tracker. Goes without `identifier`.',
    }),
  ),
  limit: optional(bodyLimit),
  cursor: optional(cursor),
}

const pageParameters = { limit: optional(limit), cursor: optional(cursor) }

export const sessionListParameters = pageParameters
export const receiptListParameters = pageParameters
export const entryListParameters = pageParameters

export const consistencyParameters = {
  from: integer({
    format: 'int64',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'How many entries the ledger had when it was looked at before; at most as many as it has now.',
    'x-rule': 'a whole number from 0 to the number of entries in the ledger',
  }),
}

export const eventListParameters = {
  limit: optional(limit),
  cursor: optional(cursor),
  sessionId: optional(text({ ...identifier, description: 'Only the events of this session.' })),
}
