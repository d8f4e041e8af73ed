import assert from 'node:assert/strict'
import type { Scope } from '../../../../src/domain/api-key.ts'
import { LetheError } from '../../../../src/domain/errors.ts'
import { parseImportLine } from '../../../../src/domain/ingest.ts'
import { sweepAged } from '../../../../src/maintenance/sweep.ts'
import { createKey, revokeKey, rotateKey } from '../../../../src/operations/api-key.ts'
import { sumTotals } from '../../../../src/operations/daily-total.ts'
import { importLines } from '../../../../src/operations/import.ts'
import { setPlan } from '../../../../src/operations/organisation.ts'
import { rememberWindows } from '../../../support/windows.ts'
import { ModelClient } from './model-client.ts'
import type { ModelKey, ModelOrganisation, ModelTracker, ServiceModel } from './service-model.ts'
import { iso } from './service-model.ts'
import { itemAt, type RowStep, type Step, subjectIds, tickMs } from './steps.ts'
import type { FrozenService, Wire } from './wire.ts'

/** Runs each step in the service and in the model, and compares the results. */
export class Play {
  readonly #service: FrozenService
  readonly #model: ServiceModel
  readonly #client: ModelClient

  constructor(service: FrozenService, model: ServiceModel, wire: Wire) {
    this.#service = service
    this.#model = model
    this.#client = new ModelClient(model, wire)
  }

  async play(step: Step): Promise<void> {
    const { trackers, organisations, keys } = this.#model
    switch (step.do) {
      case 'import':
        return this.#import(itemAt(trackers, step.tracker), step.rows)
      case 'list':
        return this.#client.list(step, itemAt(trackers, step.tracker), step.limit, {
          ...step,
          after: step.after === null ? null : this.#model.now - step.after * tickMs,
          before: step.before === null ? null : this.#model.now - step.before * tickMs,
        })
      case 'read':
        return this.#client.read(step, itemAt(trackers, step.tracker), itemAt(subjectIds, step.subject))
      case 'sessions':
        return this.#client.sessions(
          step,
          itemAt(trackers, step.tracker),
          itemAt(subjectIds, step.subject),
          step.limit,
        )
      case 'events':
        return this.#client.events(
          step,
          itemAt(trackers, step.tracker),
          itemAt(subjectIds, step.subject),
          step.session,
          step.limit,
        )
      case 'erase':
        return this.#client.erase(step, itemAt(trackers, step.tracker), itemAt(subjectIds, step.subject))
      case 'wait':
        return this.#setClock(this.#model.now + step.ticks * tickMs)
      case 'expire':
        return this.#expire(step.key)
      case 'sweep':
        return this.#sweep()
      case 'create key':
        return this.createKey(itemAt(organisations, step.organisation), step.scopes, step.lives)
      case 'rotate':
      case 'revoke':
        return this.#change(step.do, itemAt(keys, step.key))
      case 'change plan': {
        const organisation = itemAt(organisations, step.organisation)
        organisation.plan = step.plan
        return setPlan(this.#service.services, organisation.id, step.plan)
      }
      case 'totals':
        return this.#totals(itemAt(trackers, step.tracker))
    }
  }

  /** Compares everything that exists, with keys that can view it. */
  async checkAll(): Promise<void> {
    const { organisations, trackers, keys } = this.#model
    for (const organisation of organisations) await this.createKey(organisation, ['analytics:view'], null)
    for (const tracker of trackers) {
      const key = keys.findLastIndex(({ owner }) => owner === tracker.owner)
      const caller = { key, isStale: false }
      const everything = { prefix: null, after: null, before: null }
      for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const)
        await this.#client.list(caller, tracker, 2, { ...everything, sort })
      // Concurrent requests are read from the store in one batch.
      await Promise.all(
        subjectIds.flatMap((subjectId) => [
          this.#client.read(caller, tracker, subjectId),
          this.#client.export(caller, tracker, subjectId),
          this.#client.sessions(caller, tracker, subjectId, 200),
          this.#client.events(caller, tracker, subjectId, null, 200),
        ]),
      )
      await this.#totals(tracker)
    }
  }

  async createKey(owner: ModelOrganisation, scopes: readonly Scope[], lives: number | null): Promise<void> {
    const expiresAt = lives === null ? null : this.#model.now + lives * tickMs
    const name = `key ${this.#model.keys.length}`
    const { key, keyString } = await createKey(this.#service.services, {
      organisationId: owner.id,
      name,
      scopes,
      expiresAt,
    })
    this.#model.keys.push({
      id: key.id,
      name,
      owner,
      scopes,
      expiresAt,
      isRevoked: false,
      strings: [keyString],
    })
  }

  async #import(tracker: ModelTracker, rows: readonly RowStep[]): Promise<void> {
    const lines = rows.map((row) => lineOf(row, this.#model.now))
    const blocks = async function* () {
      yield { source: 'lines', firstNumber: 1, lines }
    }
    const summary = await importLines(this.#service.services, blocks(), {
      trackerId: tracker.id,
      onBadLine: (...bad) => assert.fail(bad.join(' ')),
    })
    const parsed = lines.map((line) => parseImportLine(line, tracker.id)).filter((row) => row !== null)
    // The model does not count the rows that were already stored.
    const { tooOldRows, unchanged: _, ...counts } = summary
    assert.deepEqual(counts, this.#model.ingest(tracker, parsed))
    assert.equal(
      tooOldRows.reduce((total, { rows }) => total + rows, 0),
      counts.tooOld,
    )
  }

  async #sweep(): Promise<void> {
    const { services } = this.#service
    const own = this.#model.organisations.map(({ id }) => id)
    // Other sequences have left organisations in the store.
    const list = async () => (await services.organisations.list()).filter(({ id }) => own.includes(id))
    // As with `lethe sweep --now`, a shorter window applies immediately.
    for (const id of own) await rememberWindows(services, services, id)
    const { subjects, sessions, events } = await sweepAged({
      ...services,
      organisations: { ...services.organisations, list },
    })
    assert.deepEqual({ subjects, sessions, events }, this.#model.sweep())
  }

  async #change(what: 'rotate' | 'revoke', key: ModelKey): Promise<void> {
    const { services } = this.#service
    const change = async () => {
      if (what === 'rotate') key.strings.push((await rotateKey(services, key.id)).keyString)
      else await revokeKey(services, key.id, key.name)
    }
    if (!this.#model.isActive(key)) {
      await assert.rejects(change, (error) => error instanceof LetheError && error.code === 'invalid_request')
      return
    }
    await change()
    if (what === 'revoke') key.isRevoked = true
  }

  /** Sets the clock to the instant at which a key expires, and uses it. */
  async #expire(key: number): Promise<void> {
    const { keys, trackers, now } = this.#model
    const { expiresAt } = itemAt(keys, key)
    if (expiresAt !== null && expiresAt > now) this.#setClock(expiresAt)
    await this.#client.read({ key, isStale: false }, itemAt(trackers, key), itemAt(subjectIds, key))
  }

  #setClock(now: number): void {
    this.#model.now = now
    this.#service.setClock(now)
  }

  async #totals({ id, owner, holds }: ModelTracker): Promise<void> {
    const totals = await sumTotals(
      this.#service.services,
      { organisationId: owner.id, trackerId: id },
      -1e6,
      1e6,
    )
    const expected = holds.totals().map(({ day, sessions, events }) => {
      const counts = Object.values(events)
      return { day, sessions, events: counts.reduce((sum, count) => sum + count, 0) }
    })
    assert.deepEqual(totals, expected)
  }
}

/** A row as a line to import. */
function lineOf({ kind, subject, session, ago, lasted, number, hasId }: RowStep, now: number): string {
  const moment = now - ago * tickMs
  const owner = { subjectId: itemAt(subjectIds, subject), sessionId: `s${session}` }
  if (kind === 'session') {
    const attributes = { country: itemAt(['AT', 'DE', 'FR'], number) }
    const identifiers = { userId: `u${number}` }
    return JSON.stringify({
      type: kind,
      ...owner,
      startedAt: iso(moment - lasted * tickMs),
      endedAt: iso(moment),
      attributes,
      identifiers,
    })
  }
  const name = itemAt(['pageview', 'purchase', '__proto__'], number)
  return JSON.stringify({
    type: kind,
    ...owner,
    ...(hasId && { eventId: `e${number}` }),
    name,
    occurredAt: iso(moment),
    properties: { number },
    ...(number % 2 === 0 && {
      identifiers: { email: itemAt(['ada@example.com', 'ADA@example.com'], subject) },
    }),
  })
}
