import assert from 'node:assert/strict'
import type { Scope } from '../../../../src/domain/api-key.ts'
import { dataOf, errorOf, listIn } from '../../../support/answers.ts'
import { subjectPath } from '../../../support/shop.ts'
import type { ModelTracker, ServiceModel } from './service-model.ts'
import {
  expectedEvent,
  expectedList,
  expectedRecord,
  expectedSession,
  iso,
  type ListQuestion,
} from './service-model.ts'
import type { Caller } from './steps.ts'
import { itemAt } from './steps.ts'
import type { Wire } from './wire.ts'

/** Sends requests as clients do, and compares each answer with the model. */
export class ModelClient {
  readonly #model: ServiceModel
  readonly #wire: Wire

  constructor(model: ServiceModel, wire: Wire) {
    this.#model = model
    this.#wire = wire
  }

  async list(caller: Caller, tracker: ModelTracker, limit: number, question: ListQuestion): Promise<void> {
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

  async sessions(caller: Caller, tracker: ModelTracker, subjectId: string, limit: number): Promise<void> {
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

  async events(
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

  async read(caller: Caller, tracker: ModelTracker, subjectId: string): Promise<void> {
    const { string, refusal } = this.#callAs(caller, 'analytics:view', tracker)
    const answer = await this.#wire.ask(subjectPath(subjectId, tracker.id), string)
    const whole = this.#model.subject(tracker, subjectId)
    if (refusal !== null || whole === null) errorOf(answer, refusal ?? 'not_found')
    else assert.deepEqual(dataOf(answer), expectedRecord(tracker.id, whole))
  }

  /** The full export, in one answer: the lists in reverse order. */
  async export(caller: Caller, tracker: ModelTracker, subjectId: string): Promise<void> {
    const { string, refusal } = this.#callAs(caller, 'analytics:view', tracker)
    const answer = await this.#wire.ask(`${subjectPath(subjectId, tracker.id)}/export`, string)
    const whole = this.#model.subject(tracker, subjectId)
    if (refusal !== null || whole === null) {
      errorOf(answer, refusal ?? 'not_found')
      return
    }
    assert.deepEqual(dataOf(answer), {
      ...expectedRecord(tracker.id, whole),
      sessions: whole.sessions.map(expectedSession).reverse(),
      events: whole.events.map(expectedEvent).reverse(),
    })
  }

  async erase(caller: Caller, tracker: ModelTracker, subjectId: string): Promise<void> {
    const { string, refusal } = this.#callAs(caller, 'analytics:delete-data', tracker)
    const answer = await this.#wire.ask(subjectPath(subjectId, tracker.id), string, 'DELETE')
    if (refusal !== null) {
      errorOf(answer, refusal)
      return
    }
    const counts = tracker.holds.erase(subjectId, this.#model.since(tracker.owner), this.#model.now)
    const alreadyErased = counts.sessions + counts.events === 0
    const { receipt, ...told } = dataOf(answer)
    assert.match(String(receipt), /^c2sp\.org\/tlog-proof@v1\n/)
    assert.deepEqual(told, {
      trackerId: tracker.id,
      subjectId,
      alreadyErased,
      counts,
      erasedAt: iso(this.#model.now),
    })
  }

  /** Reads a list page by page. */
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
      // Parameters are validated before the tracker is looked up.
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

  #callAs({ key, isStale }: Caller, scope: Scope, tracker: ModelTracker) {
    const chosen = itemAt(this.#model.keys, key)
    const string = chosen.strings.at(isStale ? -2 : -1) ?? chosen.strings[0] ?? ''
    return { string, refusal: this.#model.refusal(chosen, string, scope, tracker) }
  }
}
