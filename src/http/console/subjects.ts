import { formatDay } from '../../domain/daily-total.ts'
import { exportFileName } from '../../domain/subject-export.ts'
import { sumDays } from '../../operations/daily-total.ts'
import { exportSubject } from '../../operations/export-subject.ts'
import { findPeople, maxFound } from '../../operations/find-people.ts'
import { personAddress, personFound, personOfRecord } from '../../operations/person-address.ts'
import { listSubjects, planSubjectList, readSubject } from '../../operations/subject.ts'
import { exportWriter } from '../api/export.ts'
import { Identifier } from '../api/fields.ts'
import { FoundSubject, presentFound } from '../api/search-subjects.ts'
import {
  presentRecord,
  presentSummary,
  SubjectList,
  subjectFields,
  subjectListParameters,
} from '../api/subjects.ts'
import { originOf } from '../request-context.ts'
import { defineRoute, organisationView, trackerView } from '../route.ts'
import { boolean, integer, list, object, optional, orNull, text } from '../schema.ts'
import { Day } from './trackers.ts'

const SubjectDays = object({ days: list(Day), hasMore: boolean() }, { title: 'SubjectDays' })

const FoundGroup = object(
  { tracker: object({ id: text(), name: text() }), subjects: list(FoundSubject), hasMore: boolean() },
  { title: 'FoundGroup' },
)

/** `identifier` is `null` for a match by complete ID. */
const FoundPerson = object(
  {
    identifier: orNull(Identifier),
    subjects: list(FoundSubject),
    hidden: list(object({ trackerId: text(), subjectId: text() })),
    /** Of the person's page; `null` if one ID is on too many trackers. */
    address: orNull(text()),
  },
  { title: 'FoundPerson' },
)

const FoundGroups = object({ groups: list(FoundGroup), people: list(FoundPerson) }, { title: 'FoundGroups' })

/** As in the API, with the address of the page of the person it belongs to. */
const ConsoleSubject = object({ ...subjectFields, personAddress: text() }, { title: 'ConsoleSubject' })

const findBody = {
  text: text({ minLength: 1, maxLength: 300, 'x-rule': '1 to 300 characters' }),
  limit: optional(
    integer({ minimum: 1, maximum: maxFound, 'x-rule': `a whole number from 1 to ${maxFound}` }),
  ),
}

const listPath = '/console/api/trackers/{trackerId}/subjects'
/** As many as the search box shows. */
const defaultFound = 5
const subjectPath = `${listPath}/{subjectId}` as const

export const subjectRoutes = [
  defineRoute({
    method: 'POST',
    path: '/console/api/find',
    access: 'viewer',
    body: findBody,
    response: FoundGroups,
    async handle(call) {
      const { text, limit = defaultFound } = call.body
      const { services, context } = call
      const view = organisationView(call)
      const { groups, people } = await findPeople(services, view, text, limit, context.gone)
      return {
        groups: groups.map(({ tracker: { id, name }, subjects, hasMore }) => ({
          ...{ tracker: { id, name }, subjects: subjects.map(presentFound), hasMore },
        })),
        people: people.map(({ identifier, subjects, hidden }) => {
          const person = personFound(identifier, [...subjects, ...hidden])
          const address = person && personAddress(services.keyring, view.organisationId, person)
          return { identifier, subjects: subjects.map(presentFound), hidden, address }
        }),
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: listPath,
    access: 'viewer',
    query: subjectListParameters,
    response: SubjectList,
    plan: ({ path, query }, problems) => planSubjectList(path.trackerId, query, problems),
    async handle(call) {
      const view = trackerView(call, call.path.trackerId)
      const { subjects, nextCursor } = await listSubjects(call.services, view, call.plan)
      return { subjects: subjects.map(presentSummary), nextCursor }
    },
  }),
  defineRoute({
    method: 'GET',
    path: subjectPath,
    access: 'viewer',
    response: ConsoleSubject,
    async handle(call) {
      const { trackerId, subjectId } = call.path
      const { services } = call
      const view = trackerView(call, trackerId)
      const record = await readSubject(services, view, subjectId)
      const person = personOfRecord(record, { trackerId, subjectId })
      return {
        ...presentRecord(trackerId, record),
        personAddress: personAddress(services.keyring, view.organisationId, person),
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${subjectPath}/days`,
    access: 'viewer',
    response: SubjectDays,
    async handle(call) {
      const { trackerId, subjectId } = call.path
      const { days, hasMore } = await sumDays(
        call.services,
        trackerView(call, trackerId),
        subjectId,
        call.context.gone,
      )
      return { days: days.map((sum) => ({ ...sum, day: formatDay(sum.day) })), hasMore }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${subjectPath}/export`,
    access: 'desk',
    recentSignIn: true,
    response: null,
    async handle(call) {
      const { trackerId, subjectId } = call.path
      const view = trackerView(call, trackerId)
      const { services, context, http } = call
      if (context.request.method === 'HEAD') await readSubject(services, view, subjectId)
      const name = exportFileName(trackerId, subjectId)
      const headers = ['Content-Disposition', `attachment; filename="${name}"`]
      await http.respond.stream(
        context,
        async ({ add, signal }) => {
          const { take, end } = exportWriter(trackerId, add)
          await exportSubject(services, view, subjectId, originOf(context), { take, signal })
          await end('\n')
        },
        headers,
      )
    },
  }),
]
