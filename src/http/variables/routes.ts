import type { ServiceFacts } from '../api/openapi/document.ts'
import { packDocument, sendDocument } from '../api/openapi/send-document.ts'
import type { OriginPolicy } from '../client-address.ts'
import type { Route } from '../request-context.ts'
import { definePage } from '../route.ts'
import { once } from '../schema.ts'
import { variablesDocument } from './document.ts'
import { preflightRoute, readVariablesRoute } from './variables.ts'

/** The Variables API: remote config, read with a token in the query. */
export function variableRoutes(
  facts: ServiceFacts,
  { serviceUrl }: Pick<OriginPolicy, 'serviceUrl'>,
): Route[] {
  const packed = once(() => packDocument(variablesDocument(facts)))
  return [
    readVariablesRoute(),
    preflightRoute,
    definePage('/v1/variables/openapi.json', ({ http, context }) =>
      sendDocument(http.respond, context, packed(), serviceUrl(context.request) ?? '/'),
    ),
  ]
}
