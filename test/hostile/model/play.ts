import assert from 'node:assert/strict'
import { LetheError } from '../../../src/domain/errors.ts'
import { parseImportLine } from '../../../src/domain/import-line.ts'
import type { Scope } from '../../../src/domain/scope.ts'
import { createKey } from '../../../src/operations/create-key.ts'
import { importLines } from '../../../src/operations/import-lines.ts'
import { listTotals } from '../../../src/operations/list-totals.ts'
import { revokeKey } from '../../../src/operations/revoke-key.ts'
import { rotateKey } from '../../../src/operations/rotate-key.ts'
import { setPlan } from '../../../src/operations/set-plan.ts'
import { sweepAged } from '../../../src/operations/sweep-aged.ts'
import { dataOf, errorOf, listIn } from '../../support/answers.ts'
import { subjectPath } from '../../support/shop.ts'
import {
  expectedEvent,
  expectedList,
  expectedRecord,
  expectedSession,
  iso,
  type ListQuestion,
} from './expected-answers.ts'
import type { FrozenService } from './frozen-service.ts'
import type { ModelKey, ModelOrganisation, ModelTracker, ServiceModel } from './service-model.ts'
import { type Caller, type RowStep, type Step, subjectIds, tickMs } from './steps.ts'
import type { Wire } from './wire.ts'

/** Does everything twice, with the service and in the model, and compares what they say. */
export class Play {
  readonly #service: FrozenService
  readonly #model: ServiceModel
  readonly #wire: Wire

  constructor(service: FrozenService, model: ServiceModel, wire: Wire) {
    this.#service = service
    this.#model = model
    this.#wire = wire
  }

  async play(step: Step): Promise<void> {
    const { trackers, organisations, keys } = this.#model
    switch (step.do) {
      case 'import':
        return this.#import(among(trackers, step.tracker), step.rows)
      case 'list':
        return this.#list(step, among(trackers, step.tracker), step.limit, {
          ...step,
          after: step.after === null ? null : this.#model.now - step.after * tickMs,
          before: step.before === null ? null : this.#model.now - step.before * tickMs,
        })
      case 'read':
        return this.#read(step, among(trackers, step.tracker), among(subjectIds, step.subject))
      case 'sessions':
        return this.#sessions(
          step,
          among(trackers, step.tracker),
          among(subjectIds, step.subject),
          step.limit,
        )
      case 'events':
        return this.#events(
          step,
          among(trackers, step.tracker),
          among(subjectIds, step.subject),
          step.session,
          step.limit,
        )
      case 'erase':
        return this.#erase(step, among(trackers, step.tracker), among(subjectIds, step.subject))
      case 'wait':
        this.#model.now += step.ticks * tickMs
        return this.#service.setClock(this.#model.now)
      case 'sweep':
        return this.#sweep()
      case 'create key':
        return this.createKey(among(organisations, step.organisation), step.scopes, step.lives)
      case 'rotate':
      case 'revoke':
        return this.#change(step.do, among(keys, step.key))
      case 'change plan': {
        const organisation = among(organisations, step.organisation)
        organisation.plan = step.plan
        return setPlan(this.#service.workplace, organisation.id, step.plan)
      }
      case 'totals':
        return this.#totals(among(trackers, step.tracker))
    }
  }

  /** Looks at all there is, as somebody who may. */
  async checkAll(): Promise<void> {
    const { organisations, trackers, keys } = this.#model
    for (const organisation of organisations) await this.createKey(organisation, ['analytics:view'], null)
    for (const tracker of trackers) {
      const key = keys.findLastIndex(({ owner }) => owner === tracker.owner)
      const caller = { key, isStale: false }
      const everything = { prefix: null, after: null, before: null }
      for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'] as const)
        await this.#list(caller, tracker, 2, { ...everything, sort })
      for (const subjectId of subjectIds) {
        await this.#read(caller, tracker, subjectId)
        await this.#sessions(caller, tracker, subjectId, 200)
        await this.#events(caller, tracker, subjectId, null, 200)
      }
      await this.#totals(tracker)
    }
  }

  async createKey(owner: ModelOrganisation, scopes: readonly Scope[], lives: number | null): Promise<void> {
    const expiresAt = lives === null ? null : this.#model.now + lives * tickMs
    const name = `key ${this.#model.keys.length}`
    const { key, keyString } = await createKey(this.#service.workplace, {
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
    const summary = await importLines(this.#service.workplace, blocks(), {
      trackerId: tracker.id,
      onBadLine: (...bad) => assert.fail(bad.join(' ')),
    })
    const parsed = lines.map((line) => parseImportLine(line, tracker.id))
    assert.deepEqual(summary, this.#model.ingest(tracker, parsed))
  }

  async #list(caller: Caller, tracker: ModelTracker, limit: number, question: ListQuestion): Promise<void> {
    const { sort, prefix, after, before } = question
    const query = new URLSearchParams({
      ...(sort && { sort }),
      ...(prefix && { subjectIdPrefix: prefix }),
      ...(after !== null && { lastSeenAfter: iso(after) }),
      ...(before !== null && { lastSeenBefore: iso(before) }),
    })
    const path = `/v1/analytics/trackers/${tracker.id}/subjects?${query}`
    const expected = expectedList(this.#model.subjects(tracker), question)
    await this.#walk(caller, tracker, path, 'subjects', limit, expected ?? 'validation_error')
  }

  async #sessions(caller: Caller, tracker: ModelTracker, subjectId: string, limit: number): Promise<void> {
    const whole = this.#model.subject(tracker, subjectId)
    const path = `${subjectPath(subjectId, tracker.id)}/sessions?`
    await this.#walk(
      caller,
      tracker,
      path,
      'sessions',
      limit,
      whole ? whole.sessions.map(expectedSession) : 'not_found',
    )
  }

  async #events(
    caller: Caller,
    tracker: ModelTracker,
    subjectId: string,
    session: number | null,
    limit: number,
  ): Promise<void> {
    const whole = this.#model.subject(tracker, subjectId)
    const events = whole?.events.filter(({ sessionId }) => session === null || sessionId === `s${session}`)
    const path = `${subjectPath(subjectId, tracker.id)}/events?${session === null ? '' : `sessionId=s${session}`}`
    await this.#walk(caller, tracker, path, 'events', limit, events ? events.map(expectedEvent) : 'not_found')
  }

  async #read(caller: Caller, tracker: ModelTracker, subjectId: string): Promise<void> {
    const { string, refusal } = this.#callAs(caller, 'analytics:view', tracker)
    const answer = await this.#wire.ask(subjectPath(subjectId, tracker.id), string)
    const whole = this.#model.subject(tracker, subjectId)
    if (refusal !== null || whole === null) errorOf(answer, refusal ?? 'not_found')
    else assert.deepEqual(dataOf(answer), expectedRecord(tracker.id, whole))
  }

  async #erase(caller: Caller, tracker: ModelTracker, subjectId: string): Promise<void> {
    const { string, refusal } = this.#callAs(caller, 'analytics:delete-data', tracker)
    const answer = await this.#wire.ask(subjectPath(subjectId, tracker.id), string, 'DELETE')
    if (refusal !== null) {
      errorOf(answer, refusal)
      return
    }
    const counts = tracker.holds.erase(subjectId, this.#model.since(tracker.owner))
    const alreadyErased = counts.sessions + counts.events === 0
    assert.deepEqual(dataOf(answer), {
      trackerId: tracker.id,
      subjectId,
      alreadyErased,
      counts,
      erasedAt: iso(this.#model.now),
    })
  }

  /** Goes through a list page by page. */
  async #walk(
    caller: Caller,
    tracker: ModelTracker,
    path: string,
    plural: string,
    limit: number,
    expected: readonly unknown[] | 'not_found' | 'validation_error',
  ): Promise<void> {
    const { string, refusal } = this.#callAs(caller, 'analytics:view', tracker)
    const rows: unknown[] = []
    let cursor = ''
    for (;;) {
      const answer = await this.#wire.ask(`${path}&limit=${limit}${cursor}`, string)
      // Parameters are looked at before the tracker is.
      const reason =
        refusal === 'not_found' && typeof expected === 'string' ? expected : (refusal ?? expected)
      if (typeof reason === 'string') {
        errorOf(answer, reason)
        return
      }
      const data = dataOf(answer)
      const page = listIn(data, plural)
      rows.push(...page)
      if (data.nextCursor === null) break
      assert.equal(page.length, limit, 'a page with others behind it is full')
      cursor = `&cursor=${data.nextCursor}`
    }
    assert.deepEqual(rows, expected)
  }

  async #sweep(): Promise<void> {
    const { workplace } = this.#service
    const own = this.#model.organisations.map(({ id }) => id)
    // Other sequences have left theirs in the store.
    const list = async () => (await workplace.organisations.list()).filter(({ id }) => own.includes(id))
    const swept = await sweepAged({ ...workplace, organisations: { ...workplace.organisations, list } })
    assert.deepEqual(swept, this.#model.sweep())
  }

  async #change(what: 'rotate' | 'revoke', key: ModelKey): Promise<void> {
    const { workplace } = this.#service
    const change = async () => {
      if (what === 'rotate') key.strings.push((await rotateKey(workplace, key.id)).keyString)
      else await revokeKey(workplace, key.id, key.name)
    }
    if (!this.#model.isActive(key)) {
      await assert.rejects(change, (error) => error instanceof LetheError && error.code === 'invalid_request')
      return
    }
    await change()
    if (what === 'revoke') key.isRevoked = true
  }

  async #totals({ id, owner, holds }: ModelTracker): Promise<void> {
    const totals = await listTotals(
      this.#service.workplace,
      { organisationId: owner.id, trackerId: id },
      -1e6,
      1e6,
    )
    assert.deepEqual(totals, holds.totals())
  }

  #callAs({ key, isStale }: Caller, scope: Scope, tracker: ModelTracker) {
    const chosen = among(this.#model.keys, key)
    const string = chosen.strings.at(isStale ? -2 : -1) ?? chosen.strings[0] ?? ''
    return { string, refusal: this.#model.refusal(chosen, string, scope, tracker) }
  }
}

function among<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length]
  assert.ok(item !== undefined)
  return item
}

/** A row as a line of an import. */
function lineOf({ kind, subject, session, ago, lasted, number, hasId }: RowStep, now: number): string {
  const moment = now - ago * tickMs
  const owner = { subjectId: among(subjectIds, subject), sessionId: `s${session}` }
  if (kind === 'session') {
    const attributes = { country: among(['AT', 'DE', 'FR'], number) }
    return JSON.stringify({
      type: kind,
      ...owner,
      startedAt: iso(moment - lasted * tickMs),
      endedAt: iso(moment),
      attributes,
    })
  }
  const name = among(['pageview', 'purchase', '__proto__'], number)
  return JSON.stringify({
    type: kind,
    ...owner,
    ...(hasId && { eventId: `e${number}` }),
    name,
    occurredAt: iso(moment),
    properties: { number },
  })
}
