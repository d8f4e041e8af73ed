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
import { bodilessHeaders, crossOriginHeaders } from '../response-headers.ts'
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
  const contents = new ContentCache()
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
      return andThen(contents.find(services.variables, readerOf(context)), ({ tag, json }) => {
        if (isKnown(context.request, tag)) {
          http.respond.write(context, 304, '', [
            ...bodilessHeaders(context),
            ...['ETag', tag, 'Vary', 'Accept-Encoding'],
          ])
        } else http.respond.succeedWith(context, json, ['ETag', tag])
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
      ...bodilessHeaders(context),
      ...crossOriginHeaders,
      ...['Allow', 'GET, HEAD, OPTIONS', 'Access-Control-Allow-Methods', 'GET, HEAD'],
      ...['Access-Control-Allow-Headers', 'If-None-Match, X-Request-Id', 'Access-Control-Max-Age', 86_400],
    ])
  },
})

/** What the response for a set of variables contains, and its `ETag`. */
interface Content {
  json: string
  tag: string
}

const maxCacheBytes = 16 * 1024 * 1024
/** What an entry takes besides its text, so that many small ones do not fill the memory. */
const entryBytes = 512

/** Keeps the contents loaded last in memory, by the digests that the store returns with each token. */
class ContentCache {
  readonly #contents = new Map<string, Content>()
  #bytes = 0

  find(variables: VariableStore, { digest, trackerId }: VariableReader): MaybePromise<Content> {
    const known = this.#contents.get(digest)
    if (known) return known
    // The set may be newer than the digest.
    return andThen(variables.current(trackerId), (set) => this.#contents.get(set.digest) ?? this.#add(set))
  }

  #add({ digest, document, version }: VariableSet): Content {
    const json = `{"variables":${document},"version":${version}}`
    const content = { json, tag: `"${digest.slice(0, 32)}"` }
    this.#contents.set(digest, content)
    this.#bytes += json.length + entryBytes
    for (const [oldest, { json }] of this.#contents) {
      if (this.#bytes <= maxCacheBytes) break
      this.#contents.delete(oldest)
      this.#bytes -= json.length + entryBytes
    }
    return content
  }
}
