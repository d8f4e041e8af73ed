import { identifierPattern, identifierRule, maxIdentifierLength } from '../../domain/identifier.ts'
import { text } from './schema.ts'

// `x-rule` says in words what the schema says in keywords; the 422 of a parameter quotes it.

export const identifier = {
  minLength: 1,
  maxLength: maxIdentifierLength,
  pattern: identifierPattern,
  'x-rule': identifierRule,
}

/** What may stand in the braces of a route's path. */
export const pathParameters = {
  trackerId: text({
    ...identifier,
    description: 'The tracker, as an opaque string; percent-encode it in the path.',
  }),
  subjectId: text({
    ...identifier,
    description: 'The data subject, as an opaque string; percent-encode it in the path.',
  }),
  keyId: text(identifier),
  memberId: text(identifier),
  batchId: text(identifier),
}
