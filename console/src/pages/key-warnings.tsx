import type { Key } from '../types.ts'

const dayMs = 86_400_000
const soonDays = 14
const unusedDays = 90

/** What somebody should look at: a key that soon expires, or that nobody has used for long. */
export function warningsOf(key: Key, now = Date.now()): string[] {
  if (key.state !== 'active') return []
  const daysUntil = key.expiresAt === null ? null : (Date.parse(key.expiresAt) - now) / dayMs
  const idleDays = (now - Date.parse(key.lastUsedAt ?? key.rotatedAt ?? key.createdAt)) / dayMs
  const warnings: string[] = []
  if (daysUntil !== null && daysUntil <= soonDays) {
    const days = Math.ceil(daysUntil)
    warnings.push(days <= 1 ? 'expires within a day' : `expires in ${days} days`)
  }
  if (idleDays >= unusedDays)
    warnings.push(key.lastUsedAt === null ? 'never used' : `unused for ${Math.floor(idleDays)} days`)
  return warnings
}

export function Warnings({ subject }: { subject: Key }) {
  return (
    <>
      {warningsOf(subject).map((warning) => (
        <span key={warning} class="badge expired">
          {warning}
        </span>
      ))}
    </>
  )
}
