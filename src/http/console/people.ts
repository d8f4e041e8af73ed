import { formatInstant } from '../../domain/instant.ts'
import {
  identifierNamePattern,
  identifierNameRule,
  identifierValuePattern,
  identifierValueRule,
  maxIdentifierValueLength,
} from '../../domain/subject-identifier.ts'
import { planPerson, startPerson } from '../../operations/erase-person.ts'
import { maxPersonParts } from '../../operations/find-person.ts'
import { Identifier } from '../api/fields.ts'
import { FoundSubject, presentFound } from '../api/search-subjects.ts'
import { identifier } from '../parameters.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { integer, list, object, text } from '../schema.ts'
import { Batch, BatchList, maxListedBatches, presentBatch, typedSubjects } from './batches.ts'
import { instant, SubjectRef } from './fields.ts'

export const PersonPlan = object(
  {
    ...{ subjects: list(FoundSubject), hidden: list(SubjectRef) },
    /** Data subjects that share an identifier and may be the same person. */
    others: object({ subjects: list(FoundSubject), identifiers: list(Identifier) }),
    /** The member's remaining erasure budget. */
    budget: object({ limit: integer(), remaining: integer(), resetsAt: instant }),
  },
  { title: 'PersonPlan' },
)

/** The person to erase. The operation limits the total number of parts. */
export const personField = object(
  {
    identifiers: list(
      object({
        name: text({ pattern: identifierNamePattern, 'x-rule': identifierNameRule }),
        value: text({
          ...{ minLength: 1, maxLength: maxIdentifierValueLength },
          ...{ pattern: identifierValuePattern, 'x-rule': identifierValueRule },
        }),
      }),
      { maxItems: maxPersonParts },
    ),
    subjects: list(object({ trackerId: text(identifier), subjectId: text(identifier) }), {
      maxItems: maxPersonParts,
    }),
  },
  { 'x-rule': 'identifiers and data subjects' },
)

export const peopleRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/people',
    access: 'viewer',
    response: BatchList,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const batches = await services.erasureBatches.list(organisationId, 'person', maxListedBatches)
      return { batches: batches.map(presentBatch) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/people/preview',
    access: 'desk',
    body: { person: personField },
    response: PersonPlan,
    async handle(call) {
      const view = organisationView(call)
      const { subjects, hidden, others } = await call.services.jobs.run(
        view.organisationId,
        () => planPerson(call.services, view, call.body.person),
        call.context.gone,
      )
      const { limit, remaining, resetsAt } = await call.http.erasuresLeft(call.context)
      return {
        ...{ subjects: subjects.map(presentFound), hidden },
        others: { ...others, subjects: others.subjects.map(presentFound) },
        budget: { limit, remaining, resetsAt: formatInstant(resetsAt) },
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/people/erase',
    access: 'desk',
    body: { person: personField, subjects: typedSubjects },
    response: Batch,
    async handle(call) {
      const { person, subjects } = call.body
      const view = organisationView(call)
      const batch = await startPerson(call.services, view, person, subjects, originOf(call.context))
      call.http.wakeBatches()
      return presentBatch(batch)
    },
  }),
]
