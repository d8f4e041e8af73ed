import { type ErrorCode, errorCodes, maxProblems } from '../domain/errors.ts'
import { list, object, oneOf, optional, type Schema, text } from './schema.ts'

const Meta = object(
  {
    requestId: text({
      minLength: 1,
      maxLength: 200,
      pattern: '^[\\x20-\\x7e]+$',
      description: 'The same value as the X-Request-Id header; a UUID unless the client chose its own.',
    }),
    timestamp: text({
      format: 'date-time',
      maxLength: 24,
      description: 'When the response was created: ISO 8601 in UTC with milliseconds.',
    }),
  },
  { title: 'Meta', description: 'Included in every response, whether it succeeds or fails.' },
)

/** The envelope of a success, under the name of what it holds. */
export function success(data: Schema) {
  return object({ data, meta: Meta }, { title: `${data.title}Envelope` })
}

const FieldProblem = object(
  { field: text(), message: text() },
  { title: 'FieldProblem', description: 'A problem with one field.' },
)

/** The envelope of a failure. `details` is there only when fields are to blame. */
export const Failure = object(
  {
    error: object({
      code: oneOf(errorCodes, { description: 'The error code, for programs.' }),
      message: text({ description: 'The error message, for people.' }),
      details: optional(
        list(FieldProblem, {
          minItems: 1,
          maxItems: maxProblems,
          description:
            'One entry per field; only with validation_error. If there are more than 100, the last entry says how many were left out.',
        }),
      ),
    }),
    meta: Meta,
  },
  {
    title: 'Failure',
    description: 'The envelope of every error response: it has `error` instead of `data`.',
  },
)

export interface FailureBody {
  error: { code: ErrorCode; message: string; details?: readonly { field: string; message: string }[] }
  meta: { requestId: string; timestamp: string }
}
