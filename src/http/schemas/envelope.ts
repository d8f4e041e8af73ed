import { type TSchema, Type } from 'typebox'
import { type ErrorCode, errorCodes } from '../../domain/errors.ts'

export const Meta = Type.Object(
  {
    requestId: Type.String({
      description: 'The same value as the X-Request-Id header; a UUID unless the client chose its own.',
    }),
    timestamp: Type.String({
      format: 'date-time',
      description: 'When the answer was made: ISO 8601 in UTC with milliseconds.',
    }),
  },
  { title: 'Meta', description: 'What every answer carries, failure or success.' },
)

/** The envelope of a success. */
export function success(data: TSchema) {
  return Type.Object({ data, meta: Meta })
}

const FieldProblem = Type.Object(
  { field: Type.String(), message: Type.String() },
  { title: 'FieldProblem', description: 'What is wrong with one parameter.' },
)

/** The envelope of a failure. `details` is there only when fields are to blame. */
export const Failure = Type.Object(
  {
    error: Type.Object({
      code: Type.Enum([...errorCodes], { type: 'string', description: 'What went wrong, for programs.' }),
      message: Type.String({ description: 'What went wrong, for people.' }),
      details: Type.Optional(
        Type.Array(FieldProblem, {
          minItems: 1,
          description: 'One entry per field; only with validation_error.',
        }),
      ),
    }),
    meta: Meta,
  },
  { title: 'Failure', description: 'The envelope of every failure: `error` stands where `data` would.' },
)

export interface FailureBody {
  error: { code: ErrorCode; message: string; details?: readonly { field: string; message: string }[] }
  meta: { requestId: string; timestamp: string }
}
