import { isPlan, type RetentionDays } from '../../domain/plan.ts'
import type { StoreStatus } from '../../domain/store-status.ts'

/** Where a status comes from. */
export interface StatusSources {
  /** Where the store is, without what is secret. */
  place: string
  /** Looks at the store and changes nothing. Rejects when there is none, or it does not answer. */
  readStore(): Promise<StoreStatus>
  limiterEngine: 'memory' | 'redis'
  isLimiterReachable(): Promise<boolean>
  retentionDays: RetentionDays
}

/** An organisation with how long its plan keeps what was collected; `null` for a plan that this program does not know. */
export interface OrganisationStatus {
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
