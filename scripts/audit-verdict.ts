/** What `npm audit --json` prints: a report, or why there is none. */
export interface AuditOutcome {
  metadata?: { vulnerabilities: { total: number }; dependencies: { total: number } }
  message?: string
  statusCode?: number
  error?: { summary: string }
}

/** What a registry answers that has no advisories to offer, as many mirrors do. Anything else is a failure, not an answer. */
const notOffered = [404, 405, 501]

/** Whether the packages pass, how many have something known against them, and what to say of it. */
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
    const says = `could not be asked, this registry offers no advisories (${statusCode})`
    return { passes: true, vulnerable: 0, says }
  }
  const why = message ?? error?.summary ?? 'npm said nothing'
  return { passes: false, vulnerable: 0, says: `failed: ${why}` }
}
