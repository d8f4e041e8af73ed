import { formatInstant } from '../../../domain/instant.ts'
import { planPerson, startPerson } from '../../../operations/erasure-batch/erase-person.ts'
import { presentFound } from '../../api/routes/subjects.ts'
import { identityOf, originOf } from '../../request-context.ts'
import { defineRoute, organisationView } from '../../route.ts'
import { presentBatch } from '../present-batch.ts'
import { Batch, BatchList, PersonPlan } from '../resources.ts'
import { personField, typedSubjects } from '../schemas.ts'
import { mostListed } from './batches.ts'

export const peopleRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/people',
    access: 'member',
    response: BatchList,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const batches = await services.erasureBatches.list(organisationId, 'person', mostListed)
      return { batches: batches.map(presentBatch) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/people/preview',
    access: 'member',
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
    access: 'member',
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
