import { commandLine } from '../../domain/activity.ts'
import type { IncomingRow } from '../../domain/ingest.ts'
import type { Instant } from '../../domain/instant.ts'
import { allScopes } from '../../domain/scope.ts'
import type { Services } from '../../domain/services.ts'
import { createKey, type IssuedKey } from '../key/create-key.ts'
import { inviteMember } from '../member/invite-member.ts'
import type { Invited } from '../member/issue-link.ts'
import { createOrganisation } from '../organisation/create-organisation.ts'
import { createTracker } from '../tracker/create-tracker.ts'
import { sampleReaders } from './sample-people.ts'
import { sampleVisits } from './sample-visits.ts'

export interface Sample {
  organisationId: string
  trackerId: string
  /** A subject that is worth a look. */
  subjectId: string
  issued: IssuedKey
  /** Somebody who may sign in to the console. */
  invited: Invited
}

const batchSize = 2_000

/**
 * Fills an empty store with something to try Lethe on: an organisation, a shop with about 1,000 visitors, a blog that
 * some of them read, a key and a member.
 */
export async function createSample(deps: Services): Promise<Sample> {
  const { id: organisationId } = await createOrganisation(deps, {
    name: 'Sample',
    plan: 'starter',
    id: 'sample',
  })
  const { id: trackerId } = await createTracker(deps, {
    organisationId,
    name: 'Sample shop',
    id: 'sample-shop',
  })
  const blog = await createTracker(deps, { organisationId, name: 'Sample blog', id: 'sample-blog' })
  const visits = [...sampleVisits(trackerId, deps.clock())]
  const rows = [...visits, ...sampleReaders(blog.id, deps.clock())]
  for (let start = 0; start < rows.length; start += batchSize) {
    await deps.ingest.ingest(rows.slice(start, start + batchSize), deps.keyring.tombstoneKeys)
  }
  const issued = await createKey(deps, {
    organisationId,
    name: 'sample',
    scopes: allScopes(),
    expiresAt: null,
  })
  const invited = await inviteMember(deps, { organisationId, email: 'you@sample.example' }, commandLine)
  return { organisationId, trackerId, subjectId: busiestRecent(visits, deps.clock()), issued, invited }
}

/** The subject with the most events in the last week: a read of it shows something. */
function busiestRecent(rows: readonly IncomingRow[], now: Instant): string {
  const events = new Map<string, number>()
  for (const row of rows) {
    if (row.type === 'event' && row.occurredAt > now - 7 * 86_400_000) {
      events.set(row.subjectId, (events.get(row.subjectId) ?? 0) + 1)
    }
  }
  const [busiest] = [...events].sort((a, b) => b[1] - a[1])
  return busiest?.[0] ?? ''
}
