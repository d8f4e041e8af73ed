import type { Limiter } from '../domain/budget.ts'
import { LetheError } from '../domain/errors.ts'
import type { Journal } from '../domain/journal.ts'
import { isPlan, type RetentionDays } from '../domain/retention.ts'
import type { Store, StoreStatus } from '../domain/store.ts'

interface StatusSources {
  /** The store's address without secrets. */
  place: string
  /** Reads without changing anything. Rejects if the store does not exist or respond. */
  readStore(): Promise<StoreStatus>
  limiterEngine: 'memory' | 'redis'
  isLimiterReachable(): Promise<boolean>
  retentionDays: RetentionDays
}

/** `retentionDays` is `null` for a plan that this program does not know. */
interface OrganisationStatus {
  id: string
  name: string
  plan: string
  retentionDays: number | null
}

export interface Status {
  store: { place: string; problem: string | null }
  /** `null` if the store does not exist or respond. */
  found: (Omit<StoreStatus, 'organisations'> & { organisations: OrganisationStatus[] | null }) | null
  limiter: { engine: 'memory' | 'redis'; isReachable: boolean }
}

/** One failure does not hide the other results. */
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

/** Without its store, a service is not ready; without its limiter, it counts by itself. */
interface Readiness {
  store: 'ok'
  limiter: 'ok' | 'unreachable'
}

/** Throws `internal_error` if the store or the journal fails. Retries failed journal writes. */
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

/** Longer than a healthy store needs, and shorter than a health check waits. */
const storeTimeoutMs = 2_000

export async function askStore<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`The store has not responded for ${storeTimeoutMs} ms.`)),
    storeTimeoutMs,
  )
  try {
    return await Promise.race([ask(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
