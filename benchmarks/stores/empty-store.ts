import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { allScopes } from '../../src/domain/api-key.ts'
import type { Plan } from '../../src/domain/retention.ts'
import { createKey } from '../../src/operations/api-key.ts'
import { createOrganisation } from '../../src/operations/organisation.ts'
import { createTracker } from '../../src/operations/tracker.ts'
import { openServices } from '../../src/start.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import type { Lifetime } from '../lifetime.ts'
import { tracker } from './visits.ts'

/** A store with one organisation, one tracker and one key with all scopes. */
export interface BenchStore {
  folder: string
  /** The file of an embedded store. */
  path: string
  env: Record<string, string>
  key: string
}

export const organisation = 'bench'
/** The path of the tracker's subjects. */
export const subjectsPath = `/v1/analytics/trackers/${tracker}/subjects`

/** A new store, in a temporary folder unless another address is given, with budgets that never run out. */
export async function emptyStore(
  lifetime: Lifetime,
  { plan = 'free', address }: { plan?: Plan; address?: string } = {},
): Promise<BenchStore> {
  const folder = temporaryFolder(lifetime)
  const path = join(folder, 'lethe.db')
  const env = {
    LETHE_STORE: address ?? `sqlite:${path}`,
    LETHE_LIMIT_IP: '999999999/minute',
    LETHE_LIMIT_KEY: '999999999/minute',
    LETHE_LIMIT_ERASURE: '999999999/hour',
    LETHE_LIMIT_VARIABLES: '999999999/minute',
    LETHE_TRUSTED_PROXIES: '127.0.0.1',
  }
  const services = await openServices(readConfig(env), { create: true })
  await createOrganisation(services, { name: 'Bench', id: organisation, plan })
  await createTracker(services, { organisationId: organisation, name: 'Bench', id: tracker })
  const { keyString } = await createKey(services, {
    organisationId: organisation,
    name: 'bench',
    scopes: allScopes(),
    expiresAt: null,
  })
  await services.close()
  // Copies of the file need the same secret.
  const secret = address === undefined ? { LETHE_SECRET_FILE: join(folder, 'lethe.secret') } : {}
  return { folder, path, env: { ...env, ...secret }, key: keyString }
}
