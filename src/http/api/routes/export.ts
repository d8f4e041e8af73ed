import { exportSubject } from '../../../operations/subject/export-subject.ts'
import { readSubject } from '../../../operations/subject/read-subject.ts'
import { originOf } from '../../request-context.ts'
import { defineRoute, trackerView } from '../../route.ts'
import {
  exampleEvents,
  exampleSessions,
  exampleSubject,
  exampleSubjectParameters,
} from '../schemas/examples.ts'
import { SubjectExport } from '../schemas/resources.ts'
import { exportWriter } from '../write-export.ts'
import { subjectPath } from './subjects.ts'

export const exportSubjectRoute = defineRoute({
  method: 'GET',
  path: `${subjectPath}/export`,
  access: 'analytics:view',
  response: SubjectExport,
  documentation: {
    operationId: 'exportSubject',
    summary: 'Export all that is stored about a data subject',
    description:
      'The record with all its sessions and events, oldest first, as they are at one moment. It is streamed, whatever its size, and is one request of the budgets. Should it break off, the connection ends before the JSON does: what parses is complete.',
    exampleParameters: exampleSubjectParameters,
    example: { ...exampleSubject, sessions: exampleSessions, events: exampleEvents },
  },
  async handle(call) {
    const { services, context, http } = call
    const { trackerId, subjectId } = call.path
    const view = trackerView(call, trackerId)
    // Nobody is handed anything.
    if (context.request.method === 'HEAD') await readSubject(services, view, subjectId)
    await http.respond.stream(context, async ({ add, meta, signal }) => {
      const { take, end } = exportWriter(trackerId, add, '{"data":')
      await exportSubject(services, view, subjectId, originOf(context), { take, signal })
      await end(`,"meta":${JSON.stringify(meta())}}`)
    })
    return undefined
  },
})
