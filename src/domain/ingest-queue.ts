import { tooBusy } from './errors.ts'
import { BatchBlocked, type IngestResult, type IngestStore, type PackedBatch } from './ingest.ts'
import type { TombstoneKey } from './keyring.ts'

type Store = Pick<IngestStore, 'ingestAll'>

interface QueueBounds {
  /** Batches that wait are stored together up to this number of rows, and a larger one alone. */
  maxRows: number
  /** Further batches of the organisation fail immediately. */
  maxWaitingEach: number
  /** For how long a blocked batch is tried again. */
  maxBlockedMs: number
}

interface Waiting {
  organisationId: string
  batch: PackedBatch
  /** Until when it is tried again; `null` if nothing has blocked it yet. */
  blockedUntil: number | null
  resolve(result: IngestResult): void
  reject(error: unknown): void
}

/**
 * Stores batches of many clients. While some are being stored, others wait, and share the next transaction,
 * taken round-robin from the organisations. An organisation with a blocked batch shares no transaction until
 * that batch is done.
 */
export class IngestQueue {
  readonly #store: Store
  readonly #keys: readonly TombstoneKey[]
  readonly #bounds: QueueBounds
  /** By organisation. The one that has waited longest comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  /** Likewise, those of organisations with a blocked batch. */
  readonly #apart = new Map<string, Waiting[]>()
  #isStoring = false
  #isStoringApart = false

  constructor(store: Store, keys: readonly TombstoneKey[], bounds: QueueBounds) {
    this.#store = store
    this.#keys = keys
    this.#bounds = bounds
  }

  /** Resolves when the batch is durable. */
  add(organisationId: string, batch: PackedBatch): Promise<IngestResult> {
    const queue = this.#apart.has(organisationId) ? this.#apart : this.#waiting
    const own = queue.get(organisationId) ?? []
    if (own.length >= this.#bounds.maxWaitingEach) return Promise.reject(tooBusy())
    const { promise, resolve, reject } = Promise.withResolvers<IngestResult>()
    own.push({ organisationId, batch, blockedUntil: null, resolve, reject })
    queue.set(organisationId, own)
    if (!this.#isStoring) void this.#work()
    return promise
  }

  async #work(): Promise<void> {
    this.#isStoring = true
    // Batches that arrive in the same turn of the event loop share the first transaction.
    await Promise.resolve()
    for (let group = this.#take(); group.length > 0; group = this.#take()) await this.#storeAll(group)
    this.#isStoring = false
  }

  /** Takes one batch from each organisation in turn. */
  #take(): Waiting[] {
    const group: Waiting[] = []
    let rows = 0
    for (const [organisationId, own] of this.#waiting) {
      const [next] = own
      if (!next) continue
      if (group.length > 0 && rows + next.batch.rows > this.#bounds.maxRows) break
      rows += next.batch.rows
      group.push(next)
      own.shift()
      // Iteration comes to it again, after the others.
      this.#waiting.delete(organisationId)
      if (own.length > 0) this.#waiting.set(organisationId, own)
    }
    return group
  }

  async #storeAll(group: readonly Waiting[]): Promise<void> {
    try {
      await this.#storeTogether(group)
    } catch (error) {
      // A batch that cannot be stored must not make those of others fail.
      const organisations = Map.groupBy(group, ({ organisationId }) => organisationId)
      if (organisations.size > 1) {
        await Promise.all(Array.from(organisations.values(), (own) => this.#storeAll(own)))
      } else if (error instanceof BatchBlocked) {
        for (const [organisationId, own] of organisations) this.#setApart(organisationId, own)
      } else if (group.length > 1) {
        await Promise.all(group.map((each) => this.#storeAll([each])))
      } else {
        for (const { reject } of group) reject(error)
      }
    }
  }

  async #storeTogether(group: readonly Waiting[]): Promise<void> {
    const batches = group.map(({ batch }) => batch)
    const results = await this.#store.ingestAll(batches, this.#keys)
    for (const [index, { resolve, reject }] of group.entries()) {
      const result = results[index]
      if (result) resolve(result)
      else reject(new Error('A batch was stored without a result.'))
    }
  }

  /** Any of these batches may be the blocked one. */
  #setApart(organisationId: string, group: readonly Waiting[]): void {
    const blockedUntil = performance.now() + this.#bounds.maxBlockedMs
    for (const each of group) each.blockedUntil = blockedUntil
    const own = this.#apart.get(organisationId) ?? this.#waiting.get(organisationId) ?? []
    own.unshift(...group)
    this.#waiting.delete(organisationId)
    this.#apart.set(organisationId, own)
    if (!this.#isStoringApart) void this.#workApart()
  }

  /** Stores batches one by one, from each organisation in turn, beside the others. */
  async #workApart(): Promise<void> {
    this.#isStoringApart = true
    while (this.#apart.size > 0) {
      for (const [organisationId, own] of this.#apart) {
        const next = own.shift()
        if (next) await this.#storeAlone(next, own)
        if (own.some(({ blockedUntil }) => blockedUntil !== null)) continue
        this.#apart.delete(organisationId)
        if (own.length > 0) this.#waiting.set(organisationId, own)
        if (!this.#isStoring) void this.#work()
      }
    }
    this.#isStoringApart = false
  }

  /** Stores a batch, or puts it at the end of its organisation's if it is still blocked. */
  async #storeAlone(waiting: Waiting, own: Waiting[]): Promise<void> {
    try {
      await this.#storeTogether([waiting])
    } catch (error) {
      const now = performance.now()
      waiting.blockedUntil ??= now + this.#bounds.maxBlockedMs
      if (error instanceof BatchBlocked && now < waiting.blockedUntil) own.push(waiting)
      else waiting.reject(error)
    }
  }
}
