/** The field `key` of an error or another object. */
function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

/** Only identifiers: a message, a claim's value or a URL could contain an address, a code or a token. */
const identifier = /^[A-Za-z0-9_.-]{1,64}$/

/**
 * The reason of a failure for the log: the library's or the system's code, the error that the provider named,
 * and the claim or attribute that was not as expected.
 */
export function failureReason(error: unknown): string {
  const causes = [error, field(error, 'cause'), field(field(error, 'cause'), 'cause')]
  const found = causes.flatMap((cause) =>
    ['code', 'error', 'claim', 'attribute'].map((key) => field(cause, key)),
  )
  const names = found.filter((each): each is string => typeof each === 'string' && identifier.test(each))
  return [...new Set(names)].join(' ') || (error instanceof Error ? error.name : 'unknown')
}

/** Whether no answer came, or one that says that the provider failed, rather than an unacceptable one. */
export function isUnreachable(error: unknown): boolean {
  const code = field(error, 'code')
  const status = field(field(error, 'cause'), 'status')
  const hasFailed = typeof status === 'number' && status >= 500
  return error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || hasFailed
}
