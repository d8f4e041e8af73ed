import { commandLine } from '../domain/activity.ts'
import { earliestInstant } from '../domain/instant.ts'
import type { Services } from '../domain/services.ts'
import { createRequest, type WantedRequest } from './create-privacy-request.ts'

const dayMs = 86_400_000

/** The examples of the API use these requests. */
const samples: [requestId: string, kind: WantedRequest['kind'], name: string, reference: string][] = [
  ['1c5f0e37-92b4-4d68-8e0a-57a1c3d9f284', 'erasure', 'carlos', 'Ticket 1042'],
  ['2d8a6b49-13c5-4e7f-a1b2-68b2d4eaf395', 'erasure', 'dora', 'Ticket 1043'],
  ['3e9b7c5a-24d6-4f80-b2c3-79c3e5fb04a6', 'access', 'emil', 'Ticket 1044'],
]

/** Requests of people who have visited the shop and the blog, received yesterday. */
export async function createSampleRequests(deps: Services, organisationId: string): Promise<void> {
  const view = { organisationId, since: earliestInstant }
  for (const [requestId, kind, name, reference] of samples) {
    const person = { identifiers: [{ name: 'email', value: `${name}@example.com` }], subjects: [] }
    const receivedAt = deps.clock() - dayMs
    await createRequest(deps, view, { requestId, kind, person, receivedAt, reference }, commandLine)
  }
}
