import { languages } from '../../domain/language.ts'
import { replyNames } from '../../domain/reply-text.ts'
import { certifyRequestPage } from '../../operations/certify-privacy-request.ts'
import { readRequestPage } from '../../operations/request-page.ts'
import { replyToRequest } from '../../operations/request-reply.ts'
import { sendExport } from '../api/request-export.ts'
import { defineRoute, organisationView } from '../route.ts'
import { integer, list, object, oneOf, optional, orNull, text } from '../schema.ts'
import { Certificate, presentCertificate } from './erasures.ts'
import { language } from './organisation-profile.ts'
import { presentRequest, Request } from './request-fields.ts'
import { requestPath } from './requests.ts'

/** The texts that fit a request, filled in; `suggested` is the one to answer with now. */
const RequestReply = object(
  {
    language: oneOf(languages),
    suggested: orNull(oneOf(replyNames)),
    replies: list(object({ name: oneOf(replyNames), text: text() })),
  },
  { title: 'RequestReply' },
)

/** The position in a request after which a page of its certificate starts. */
const certificateAfter = optional(integer({ minimum: 0, 'x-rule': 'a whole number, 0 or more' }))

/** A page of the entries of a request, and of the items that have none. */
const RequestCertificate = object(
  {
    request: Request,
    certificates: list(Certificate),
    ...{ waiting: integer(), gone: integer(), stopped: integer() },
    /** Of the whole request. */
    excluded: integer(),
    nextPlace: orNull(integer()),
  },
  { title: 'RequestCertificate' },
)

export const requestDocumentRoutes = [
  defineRoute({
    method: 'GET',
    path: `${requestPath}/export`,
    access: 'desk',
    recentSignIn: true,
    response: null,
    handle: (call) => sendExport(call, call.path.requestId),
  }),
  defineRoute({
    method: 'GET',
    path: `${requestPath}/certificate`,
    access: 'viewer',
    query: { after: certificateAfter },
    response: RequestCertificate,
    async handle(call) {
      const { services, path, query } = call
      const { request, assignee, exclusions } = await readRequestPage(
        services,
        organisationView(call),
        path.requestId,
      )
      const { certificates, ...page } = await certifyRequestPage(services, request, query.after ?? -1)
      return {
        ...{ ...page, request: presentRequest(request, assignee), excluded: exclusions.length },
        certificates: certificates.map(presentCertificate),
      }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${requestPath}/reply`,
    access: 'viewer',
    query: { language: optional(language) },
    response: RequestReply,
    async handle(call) {
      const verifyLink = `${call.http.serviceUrl(call.context) ?? ''}/verify`
      const language = call.query.language ?? call.signedIn.member.language
      const wanted = { language, verifyLink }
      return replyToRequest(call.services, organisationView(call), call.path.requestId, wanted)
    },
  }),
]
