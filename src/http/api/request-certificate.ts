import { formatInstant } from '../../domain/instant.ts'
import { requestKinds } from '../../domain/privacy-request.ts'
import { type CertifiedEntry, certifyRequest, isComplete } from '../../operations/certify-privacy-request.ts'
import { maxPersonParts } from '../../operations/find-person.ts'
import { requireRequest } from '../../operations/privacy-request.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, count, list, object, oneOf, orNull, text } from '../schema.ts'
import { Counts, id, instant, receipt } from './fields.ts'
import { exampleCertificate } from './request-examples.ts'
import { presentRequest, requestPath, requestsTag } from './requests.ts'

const index = count('The index of the entry in the ledger, from 0.')

const RequestCertificate = object(
  {
    requestId: text({ format: 'uuid', maxLength: 36 }),
    kind: oneOf(requestKinds),
    reference: orNull(text({ maxLength: 200 })),
    receivedAt: instant('When the person asked.'),
    closedAt: orNull(instant('When the request was closed.')),
    complete: boolean({
      description:
        'The request is done, everything that it was to erase has an entry below, and nothing arrived too late. `false` also if a tracker was deleted before its data was erased.',
    }),
    entries: list(
      object(
        {
          trackerId: id(),
          erasedAt: instant('When the data was erased.'),
          alreadyErased: boolean({ description: 'The data subject had no visible data at that time.' }),
          ...{ counts: Counts, index, receipt },
        },
        { title: 'CertifiedErasure' },
      ),
      { description: 'The erasures, in order. They do not identify anyone; the receipts prove them.' },
    ),
    nothingHeld: list(
      object(
        {
          name: text({ maxLength: 32, description: 'The kind of identifier, such as `email`.' }),
          checkedAt: instant('When nothing was stored about it.'),
          ...{ index, receipt },
        },
        { title: 'CertifiedAbsence' },
      ),
      { maxItems: maxPersonParts, description: 'The identifiers about which nothing was stored.' },
    ),
  },
  { title: 'RequestCertificate', description: 'What a request did, with proof.' },
)

export const readCertificateRoute = defineRoute({
  method: 'GET',
  path: `${requestPath}/certificate`,
  access: 'analytics:manage-requests',
  response: RequestCertificate,
  documentation: {
    operationId: 'readCertificate',
    tag: requestsTag,
    summary: 'Read the certificate of a privacy request',
    description:
      'The erasures of the request so far, each with its receipt against the current ledger. It is streamed: a response that parses is complete.',
    exampleParameters: { requestId: exampleCertificate.requestId },
    example: exampleCertificate,
  },
  async handle({ services, context, path, http }) {
    const request = await requireRequest(services, identityOf(context).organisationId, path.requestId)
    const complete = await isComplete(services, request)
    const { requestId, kind, reference, receivedAt, closedAt } = presentRequest(request)
    const facts = { requestId, kind, reference, receivedAt, closedAt, complete }
    await http.respond.stream(context, async ({ add, meta, signal }) => {
      const nothingHeld: string[] = []
      let separator = `{"data":${JSON.stringify(facts).slice(0, -1)},"entries":[`
      const take = async (entry: CertifiedEntry) => {
        const json = JSON.stringify(presentEntry(entry))
        if (entry.kind === 'nothing-held') {
          nothingHeld.push(json)
          return
        }
        await add(separator + json)
        separator = ','
      }
      await certifyRequest(services, request, take, signal)
      const start = separator === ',' ? '' : separator
      await add(`${start}],"nothingHeld":[${nothingHeld.join(',')}]},"meta":${JSON.stringify(meta())}}`)
    })
    return undefined
  },
})

export function presentEntry(entry: CertifiedEntry) {
  const { index, receipt } = entry
  if (entry.kind === 'nothing-held')
    return { name: entry.name, checkedAt: formatInstant(entry.checkedAt), index, receipt }
  const { trackerId, erasedAt, alreadyErased, counts } = entry
  return { trackerId, erasedAt: formatInstant(erasedAt), alreadyErased, counts, index, receipt }
}
