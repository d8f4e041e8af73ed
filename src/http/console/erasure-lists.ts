import {
  type ErasureListPlan as Plan,
  previewList,
  unusedOutcomes,
} from '../../operations/plan-erasure-list.ts'
import { startErasureList } from '../../operations/start-erasure-list.ts'
import { identifier } from '../parameters.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { integer, list, object, oneOf, optional, text } from '../schema.ts'
import { DataCounts, typedSubjects } from './request-fields.ts'
import { RequestGroup, readGroup, reference } from './request-groups.ts'

/** What a list would erase. Each line read is used, empty, invalid, repeated or `other`. */
const ErasureListPlan = object(
  {
    ...{ read: integer(), used: integer(), empty: integer(), invalid: integer(), repeated: integer() },
    ...{ other: integer(), nothing: integer(), requested: integer(), lines: integer() },
    /** How many lines match stored data, and so get a request. */
    matched: integer(),
    ...{ found: DataCounts, hidden: integer() },
    trackers: list(object({ trackerId: text(), subjects: integer() })),
    unused: list(object({ line: integer(), outcome: oneOf(unusedOutcomes) })),
  },
  { title: 'ErasureListPlan' },
)

/** The limit of a request with a list of people. */
const maxListBytes = 4 * 1024 * 1024

/** The list, and how to read it. */
const listFields = {
  text: text({ maxLength: maxListBytes, 'x-rule': 'a list with one data subject or person per line' }),
  format: oneOf(['lines', 'csv'], { 'x-rule': 'lines or csv' }),
  column: optional(text({ maxLength: 1_000, 'x-rule': 'the name of a column' })),
  by: oneOf(['subjectId', 'email'], { 'x-rule': 'subjectId or email' }),
  trackerIds: list(text(identifier), {
    maxItems: 1_000,
    'x-rule': 'a list of trackers, empty for all of them',
  }),
  reference,
}

export const erasureListRoutes = [
  defineRoute({
    method: 'POST',
    path: '/console/api/erasure-lists/preview',
    access: 'desk',
    body: listFields,
    maxBodyBytes: maxListBytes,
    response: ErasureListPlan,
    async handle(call) {
      const { services, body, context } = call
      return presentPlan(await previewList(services, organisationView(call), body, context.gone))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/erasure-lists',
    access: 'desk',
    recentSignIn: true,
    body: { ...listFields, subjects: typedSubjects },
    maxBodyBytes: maxListBytes,
    response: RequestGroup,
    async handle(call) {
      const { subjects, ...wanted } = call.body
      const origin = originOf(call.context)
      await startErasureList(call.services, organisationView(call), wanted, subjects, origin)
      call.http.wakeRequests()
      return readGroup(call, wanted.reference)
    },
  }),
]

/** How many lines without a request are listed. */
const maxNamed = 100

function presentPlan({ people, trackers, unused, begun: _, ...plan }: Plan) {
  const { lines, empty, other, invalid, repeated } = plan
  return {
    ...plan,
    ...{ read: lines + empty + other, used: lines - invalid - repeated },
    matched: new Set(people.map(({ line }) => line)).size,
    trackers: Array.from(trackers, ([trackerId, subjects]) => ({ trackerId, subjects })),
    unused: unused.slice(0, maxNamed),
  }
}
