import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts'
import {
  maxVariables,
  type VariableSet,
  type VariableStore,
  variableNamePattern,
} from '../../domain/variable.ts'
import { tokenStringPattern, type VariableReader } from '../../domain/variable-token.ts'
import { isKnown } from '../asset.ts'
import { type Route, readerOf } from '../request-context.ts'
import { commonHeaders, crossOriginHeaders } from '../response.ts'
import { defineRoute } from '../route.ts'
import { anyObject, count, object, text } from '../schema.ts'

const path = '/v1/variables'

const VariableList = object(
  {
    variables: anyObject({
      description: 'The value of each variable by its name: any JSON value.',
      maxProperties: maxVariables,
      propertyNames: { type: 'string', pattern: variableNamePattern.source },
    }),
    version: count('The version of the variables. It grows with every change; 0 before the first.'),
  },
  { title: 'VariableList', description: 'All variables of a tracker.' },
)

/** The variables that a token may read. */
export function readVariablesRoute(): Route {
  const sets = new SetCache()
  return defineRoute({
    method: 'GET',
    path,
    access: 'variable-token',
    query: {
      token: text({
        pattern: tokenStringPattern.source,
        maxLength: 64,
        description: 'A variable token.',
        'x-rule': 'a variable token',
      }),
    },
    response: VariableList,
    documentation: {
      operationId: 'readVariables',
      tag: 'Variables',
      summary: 'Read the variables of a tracker',
      description:
        "Returns all variables of the token's tracker. A change is visible to the next request. Send the `ETag` of the last response in `If-None-Match` to get a 304 without a body while nothing has changed.",
      exampleParameters: {},
      example: {
        variables: {
          'banner.text': 'Free shipping this week',
          'checkout.steps': 3,
          'search.suggestions': { enabled: true, share: 0.5 },
        },
        version: 1,
      },
    },
    handle({ context, services, http }) {
      return andThen(sets.find(services.variables, readerOf(context)), ({ digest, document, version }) => {
        const tag = `"${digest.slice(0, 32)}"`
        if (isKnown(context.request, tag)) {
          http.respond.write(context, 304, '', [...commonHeaders(context), 'ETag', tag])
        } else {
          http.respond.succeedWith(context, `{"variables":${document},"version":${version}}`, ['ETag', tag])
        }
        return undefined
      })
    },
  })
}

/** Answers a browser, which asks before a page of another origin sends `If-None-Match`. */
export const preflightRoute = defineRoute({
  method: 'OPTIONS',
  path,
  access: 'public',
  response: null,
  handle({ context, http }) {
    http.respond.write(context, 204, '', [
      ...commonHeaders(context),
      ...crossOriginHeaders,
      ...['Allow', 'GET, HEAD, OPTIONS', 'Access-Control-Allow-Methods', 'GET, HEAD'],
      ...['Access-Control-Allow-Headers', 'If-None-Match, X-Request-Id', 'Access-Control-Max-Age', 86_400],
    ])
  },
})

const maxCacheBytes = 16 * 1024 * 1024

/** Keeps the sets read last in memory, by their digests, which the store tells with each token. */
class SetCache {
  readonly #sets = new Map<string, VariableSet>()
  #bytes = 0

  find(variables: VariableStore, { digest, trackerId }: VariableReader): MaybePromise<VariableSet> {
    const known = this.#sets.get(digest)
    if (known) return known
    return andThen(variables.current(trackerId), (set) => {
      this.#add(set)
      return set
    })
  }

  #add(set: VariableSet): void {
    if (this.#sets.has(set.digest)) return
    this.#sets.set(set.digest, set)
    this.#bytes += set.document.length
    for (const [digest, { document }] of this.#sets) {
      if (this.#bytes <= maxCacheBytes) return
      this.#sets.delete(digest)
      this.#bytes -= document.length
    }
  }
}
