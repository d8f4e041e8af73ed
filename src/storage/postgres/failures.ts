import { DatabaseError } from 'pg'

/** A failure of PostgreSQL as it may stand in a log: what it quotes of rows and values may be personal data, and is left out. */
export class PostgresFailure extends Error {
  override name = 'PostgresFailure'
  /** PostgreSQL's code, or that of the system for a connection that failed. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Class 22 is about data that will not do, and its messages quote it. */
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

/** Whoever signed the certificate of the server is not known here. */
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
/** Shut down, crashed, the connection ended by an administrator, or the server has become one that only reads, as in a failover. */
const endedCodes = ['57P01', '57P02', '57P05', '25P03', '25006']

/** Whether a connection that had stood broke, so that another may do better. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== null) return systemCodes.includes(code) || endedCodes.includes(code) || code.startsWith('08')
  // The driver's own words for a connection that ended or is no longer usable; they carry no code. One that never came about
  // because the server is silent is "terminated due to" that, and another would do no better.
  return error instanceof Error && /^Connection terminated(?! due to)|is not queryable/.test(error.message)
}

/** Whether two transactions were in each other's way, so that one of them has to be run again. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40P01' || code === '40001'
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}
