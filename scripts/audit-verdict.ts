/** The output of `npm audit --json`: a report, or the reason why there is none. */
interface AuditOutcome {
  metadata?: { vulnerabilities: { total: number }; dependencies: { total: number } }
  message?: string
  statusCode?: number
  error?: { summary: string }
}

/** The response of a registry without advisories, such as most mirrors. Any other response is a failure. */
const notOffered = [404, 405, 501]

/** Whether the packages pass, how many have known vulnerabilities, and the message to print. */
export function auditVerdict({ metadata, message, statusCode = 0, error }: AuditOutcome): {
  passes: boolean
  vulnerable: number
  says: string
} {
  if (metadata) {
    const { vulnerabilities, dependencies } = metadata
    const vulnerable = vulnerabilities.total
    const says = `${vulnerable} of ${dependencies.total} packages have known vulnerabilities`
    return { passes: vulnerable === 0, vulnerable, says }
  }
  if (notOffered.includes(statusCode)) {
    const says = `skipped: this registry has no advisories (${statusCode})`
    return { passes: true, vulnerable: 0, says }
  }
  const why = message ?? error?.summary ?? 'npm printed no reason'
  return { passes: false, vulnerable: 0, says: `failed: ${why}` }
}
