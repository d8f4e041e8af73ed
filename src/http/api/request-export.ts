import { invalidField } from '../../domain/errors.ts'
import { documentName } from '../../domain/organisation-profile.ts'
import type { Person } from '../../domain/person.ts'
import type { PrivacyRequest } from '../../domain/privacy-request.ts'
import type { Services } from '../../domain/services.ts'
import { exportPerson } from '../../operations/export-person.ts'
import { maxFoundSubjects } from '../../operations/find-person.ts'
import { requireProfile } from '../../operations/organisation-profile.ts'
import { requireRequest } from '../../operations/privacy-request.ts'
import { searchRequest } from '../../operations/search-request.ts'
import type { ArchiveContext } from '../archive/index-page.ts'
import { PersonArchive } from '../archive/person-archive.ts'
import { type HttpTools, identityOf, originOf, type RequestContext } from '../request-context.ts'
import { defineRoute, organisationView } from '../route.ts'
import { text } from '../schema.ts'
import { exampleRequest } from './request-examples.ts'
import { requestPath, requestsTag } from './requests.ts'

const zip = 'application/zip'
const tooMany = `the copy would be incomplete: more than ${maxFoundSubjects} data subjects match; request them in parts`

interface ExportCall {
  services: Services
  context: RequestContext
  http: Pick<HttpTools, 'respond'>
}

export const exportRequestRoute = defineRoute({
  method: 'GET',
  path: `${requestPath}/export`,
  access: 'analytics:view',
  response: text({ format: 'binary', description: 'A ZIP file.' }),
  fileType: zip,
  documentation: {
    operationId: 'exportRequest',
    tag: requestsTag,
    summary: 'Export the data of a person, as a ZIP file',
    description:
      'The copy of an open or running request: `index.html`, a page that people can read, one JSON file per data subject with everything that is visible of it, and their JSON Schema. It is streamed and counts as one request. If more than 10,000 data subjects match, the response is 422. If it fails midway, the connection ends before the file is complete.',
    exampleParameters: { requestId: exampleRequest.requestId },
    example: '',
  },
  handle: (call) => sendExport(call, call.path.requestId),
})

/** Streams the ZIP file of a request. The console sends the same one. */
export async function sendExport(call: ExportCall, requestId: string): Promise<undefined> {
  const { services, context, http } = call
  const view = organisationView(call)
  const request = await requireRequest(services, view.organisationId, requestId)
  const { person } = request
  if (person === null) throw invalidField('state', `this request is closed (${request.state})`)
  const { subjects, hidden, isComplete } = await searchRequest(services, view, { ...request, person })
  if (!isComplete) throw invalidField('person', tooMany)
  const hasHidden = hidden.length > 0
  const archiveContext = { ...(await describeArchive(call, { ...request, person })), hasHidden }
  const headers = [
    ...['Content-Type', zip],
    ...['Content-Disposition', `attachment; filename="request-${request.id}.zip"`],
  ]
  await http.respond.stream(
    context,
    async ({ add, signal }) => {
      const archive = new PersonArchive(archiveContext, add, signal)
      try {
        const what = { requestId: request.id, subjects }
        await exportPerson(services, view, what, originOf(context), archive)
        await archive.end()
      } catch (error) {
        await archive.abandon()
        throw error
      }
    },
    headers,
    { isCompressed: true },
  )
  return undefined
}

/** What the page of an archive says besides the data. */
async function describeArchive(
  { services, context }: Pick<ExportCall, 'services' | 'context'>,
  { organisationId, person, reference, receivedAt }: PrivacyRequest & { person: Person },
): Promise<Omit<ArchiveContext, 'hasHidden'>> {
  const { organisation, profile } = await requireProfile(services, organisationId)
  const trackers = await services.trackers.list(organisationId)
  return {
    language: profile.language,
    organisation: { name: documentName(profile, organisation), contact: profile.contact },
    request: { reference, receivedAt, identifiers: person.identifiers },
    madeAt: services.clock(),
    keptDays: services.retentionDays[identityOf(context).plan],
    trackers: new Map(trackers.map(({ id, name }) => [id, name])),
  }
}
