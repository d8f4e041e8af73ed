import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { allows, isRole, type Role, roles } from '../../src/domain/member.ts'
import { openConsoleSurface } from '../robustness/fuzz/requests/console-surface.ts'
import { type GeneratedRequest, goodRequest } from '../robustness/fuzz/requests/generated-request.ts'
import { needsMore, type Operation } from '../robustness/fuzz/requests/operations.ts'
import { askAll, bytesOf } from '../robustness/fuzz/requests/send.ts'
import { errorOf } from '../support/answers.ts'
import type { Answer } from '../support/documented.ts'
import { seededRandom } from '../support/seeded-random.ts'

const surface = await openConsoleSurface({ after })
const { seed } = seededRandom()

const senders: Record<Role, string> = { viewer: 'a viewer’s', desk: 'a desk member’s', admin: 'an admin’s' }

/** A valid request, sent by a member with a role. */
function sample(operation: Operation, role: Role, attempt: number): GeneratedRequest {
  const [request] = fc.sample(goodRequest(operation, surface), { numRuns: 1, seed: seed + attempt })
  assert.ok(request)
  // Members can end only their own sign-ins.
  const own = surface.meanings[`${role}SignIn`] ?? ''
  return { ...request, sender: senders[role], target: request.target.replace('{{signInId}}', own) }
}

async function send(request: GeneratedRequest): Promise<Answer> {
  const [answer] = await askAll(surface.url, [{ text: bytesOf(surface, request), method: request.method }])
  assert.ok(answer)
  return answer
}

/** Every row of the store, except when members were last seen, which is updated once a minute. */
async function everything(): Promise<Record<string, unknown>> {
  const { transfer } = surface.services
  const rows = transfer.tables.map(async (table) => {
    const all = await transfer.read(table, null, 10_000)
    if (table.name !== 'sign_ins') return [table.name, all]
    const seen = table.columns.findIndex(({ name }) => name === 'last_seen_at')
    return [table.name, all.map((row) => row.toSpliced(seen, 1))]
  })
  return Object.fromEntries(await Promise.all(rows))
}

/** Every route for members, with each role. */
const cases = surface.operations.flatMap((operation) => {
  const { access } = operation
  return isRole(access) ? roles.map((role) => ({ operation, access, role })) : []
})

describe('a route of the console is refused to a lower role, without changes:', () => {
  let before: Awaited<ReturnType<typeof everything>> | null = null
  for (const { operation, access, role } of cases) {
    if (allows(role, access)) continue
    test(`${operation.name} to ${role}`, async () => {
      before ??= await everything()
      const { message } = errorOf(await send(sample(operation, role, 0)), 'forbidden')
      assert.equal(message, `This needs the role ${access}. Your role is ${role}.`)
      assert.deepEqual(await everything(), before)
    })
  }
})

// Permissions do not depend on the store.
const skip = process.env.LETHE_TEST_STORE === 'postgres' && 'the routes are tried on the embedded store'
describe('a route of the console works for its role and for higher ones:', { skip }, () => {
  for (const { operation, access, role } of cases) {
    if (!allows(role, access) || needsMore(operation)) continue
    test(`${operation.name} for ${role}`, async () => {
      for (let attempt = 0; attempt < 40; attempt++) {
        const { status } = await send(sample(operation, role, attempt))
        if (operation.method !== 'GET' && status === 200) await surface.renew()
        if (status === 200) return
        assert.ok([404, 422].includes(status), `${status}`)
      }
      assert.fail('no request of this role worked')
    })
  }
})
