import { DatabaseError } from 'pg'

/** An error of PostgreSQL that is safe to log: without rows and values, which may be personal data. */
class PostgresFailure extends Error {
  override name = 'PostgresFailure'
  /** PostgreSQL's error code, or the system's code for a failed connection. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Class 22 covers invalid data, and its messages quote it. */
const quotesData = /^22/

export function toFailure(error: unknown): Error {
  if (error instanceof DatabaseError) {
    const code = error.code ?? 'XX000'
    return new PostgresFailure(code, quotesData.test(code) ? 'a value will not do' : error.message)
  }
  if (error instanceof AggregateError) return toFailure(error.errors[0])
  const code = codeOf(error)
  if (code !== null && untrusted.includes(code)) {
    const reason = error instanceof Error ? error.message : code
    return new PostgresFailure(code, `${reason}. ${howToTrust}`)
  }
  return error instanceof Error ? error : new Error(String(error))
}

/** The issuer of the server's certificate is unknown. */
const untrusted = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]
const howToTrust =
  'Name the file with the certificate of your CA in LETHE_STORE: ?sslmode=verify-full&sslrootcert=FILE. What each sslmode does: docs/reference/postgres.md#tls'

const systemCodes = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED']
/**
 * Shut down, crashed, the connection ended by an administrator, or the server became read-only, as in a
 * failover.
 */
const endedCodes = ['57P01', '57P02', '57P05', '25P03', '25006']

/** Whether an established connection broke, so that another one may work. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== null) return systemCodes.includes(code) || endedCodes.includes(code) || code.startsWith('08')
  // The driver's messages for a connection that has ended; they carry no code. "Terminated due to" means that
  // the server does not answer: another connection would not help.
  return error instanceof Error && /^Connection terminated(?! due to)|is not queryable/.test(error.message)
}

/** Whether the transaction conflicted with another one and must be retried. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40P01' || code === '40001'
}

/** Whether a statement waited for a lock until its time-out. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}
