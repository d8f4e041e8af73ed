import type { ErrorCode } from '../domain/errors.ts'

/** The HTTP status of each error code. */
export const errorStatus: Record<ErrorCode, 400 | 401 | 403 | 404 | 422 | 429 | 500> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  validation_error: 422,
  rate_limited: 429,
  internal_error: 500,
}
