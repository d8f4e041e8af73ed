import type { Limiter } from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import { isPlan, type RetentionDays } from '../domain/retention.ts'
import type { Store, StoreStatus } from '../domain/store.ts'

/** Where a status comes from. */
interface StatusSources {
  /** Where the store is, without what is secret. */
  place: string
  /** Looks at the store and changes nothing. Rejects when there is none, or it does not answer. */
  readStore(): Promise<StoreStatus>
  limiterEngine: 'memory' | 'redis'
  isLimiterReachable(): Promise<boolean>
  retentionDays: RetentionDays
}

/** An organisation with how long its plan keeps what was collected; `null` for a plan that this program does not know. */
interface OrganisationStatus {
  id: string
  name: string
  plan: string
  retentionDays: number | null
}

export interface Status {
  store: { place: string; problem: string | null }
  /** `null` when there is no store, or it does not answer. */
  found: (Omit<StoreStatus, 'organisations'> & { organisations: OrganisationStatus[] | null }) | null
  limiter: { engine: 'memory' | 'redis'; isReachable: boolean }
}

/** How the store and the limiter stand. What does not answer is told of, and hides nothing of the rest. */
export async function readStatus(sources: StatusSources): Promise<Status> {
  const { place, retentionDays, limiterEngine: engine } = sources
  const [store, isReachable] = await Promise.all([
    sources.readStore().catch((error) => (error instanceof Error ? error : new Error(String(error)))),
    sources.isLimiterReachable(),
  ])
  const limiter = { engine, isReachable }
  if (store instanceof Error) return { store: { place, problem: store.message }, found: null, limiter }
  const organisations = store.organisations?.map((organisation) => ({
    ...organisation,
    retentionDays: isPlan(organisation.plan) ? retentionDays[organisation.plan] : null,
  }))
  return {
    store: { place, problem: null },
    found: { ...store, organisations: organisations ?? null },
    limiter,
  }
}

/** How the parts stand that requests need. Without its store a service is not ready; without its limiter it counts by itself. */
interface Readiness {
  store: 'ok'
  limiter: 'ok' | 'unreachable'
}

/**
 * Asks the parts how they are. `internal_error` that names the store when it does not answer in time, or the journal where one is kept
 * and cannot be written; the cause is not in the message. What the journal lacks since a write failed is tried again.
 */
export async function checkReadiness(
  { journal, ...store }: Pick<Store, 'ping'> & { journal?: Pick<Journal, 'recover'> | undefined },
  limiter: Pick<Limiter, 'isReachable'>,
): Promise<Readiness> {
  await askStore(() => store.ping()).catch((cause) => {
    throw new LetheError('internal_error', 'The store does not answer.', [], { cause })
  })
  await journal?.recover().catch((cause) => {
    throw new LetheError('internal_error', 'The journal cannot be written.', [], { cause })
  })
  return { store: 'ok', limiter: limiter.isReachable() ? 'ok' : 'unreachable' }
}

/** Longer than a healthy store ever takes, shorter than whoever asks will wait. */
const storeTimeoutMs = 2_000

/** What a store answers; rejects when it has not answered in time. */
export async function askStore<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`The store has not answered for ${storeTimeoutMs} ms.`)),
    storeTimeoutMs,
  )
  try {
    return await Promise.race([ask(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
