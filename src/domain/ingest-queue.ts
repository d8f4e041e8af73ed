import { tooBusy } from './errors.ts'
import type { IngestResult, IngestStore, PackedBatch } from './ingest.ts'
import type { TombstoneKey } from './keyring.ts'

type Store = Pick<IngestStore, 'ingestAll'>

interface QueueBounds {
  /** Batches that wait are stored together up to this number of rows, and a larger one alone. */
  maxRows: number
  /** Further batches of the organisation fail immediately. */
  maxWaitingEach: number
}

interface Waiting {
  batch: PackedBatch
  resolve(result: IngestResult): void
  reject(error: unknown): void
}

/**
 * Stores batches of many clients. While some are being stored, others wait, and share the next transaction,
 * taken round-robin from the organisations.
 */
export class IngestQueue {
  readonly #store: Store
  readonly #keys: readonly TombstoneKey[]
  readonly #bounds: QueueBounds
  /** By organisation. The one that has waited longest comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #isStoring = false

  constructor(store: Store, keys: readonly TombstoneKey[], bounds: QueueBounds) {
    this.#store = store
    this.#keys = keys
    this.#bounds = bounds
  }

  /** Resolves when the batch is durable. */
  add(organisationId: string, batch: PackedBatch): Promise<IngestResult> {
    const own = this.#waiting.get(organisationId) ?? []
    if (own.length >= this.#bounds.maxWaitingEach) return Promise.reject(tooBusy())
    const { promise, resolve, reject } = Promise.withResolvers<IngestResult>()
    own.push({ batch, resolve, reject })
    this.#waiting.set(organisationId, own)
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
      const batches = group.map(({ batch }) => batch)
      const results = await this.#store.ingestAll(batches, this.#keys)
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index]
        if (result) resolve(result)
        else reject(new Error('A batch was stored without a result.'))
      }
    } catch (error) {
      // A batch that cannot be stored must not make those of others fail.
      if (group.length > 1) await Promise.all(group.map((each) => this.#storeAll([each])))
      else for (const { reject } of group) reject(error)
    }
  }
}
