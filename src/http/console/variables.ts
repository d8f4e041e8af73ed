import { formatInstant } from '../../domain/instant.ts'
import { keptVersions, parseVariables } from '../../domain/variable.ts'
import {
  currentVariables,
  editVariables,
  listVariableVersions,
  variablesAt,
} from '../../operations/variable.ts'
import { originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { anyObject, integer, list, object, optional, text } from '../schema.ts'
import { Actor, instant, wholeCount } from './fields.ts'

const VariableSet = object({ version: integer(), variables: anyObject() }, { title: 'VariableSet' })

const VariableVersion = object(
  {
    ...{ version: integer(), changedAt: instant, actor: Actor },
    ...{ added: integer(), changed: integer(), removed: integer() },
  },
  { title: 'VariableVersion' },
)

const VariableVersionList = object(
  { versions: list(VariableVersion, { maxItems: keptVersions }) },
  { title: 'VariableVersionList' },
)

const SavedVariables = object({ version: integer() }, { title: 'SavedVariables' })

/** Leaves room for the whitespace of 1 MiB of variables. Reading more would delay other requests. */
export const maxTextLength = 2 * 1024 * 1024
/** Quotes and line breaks are escaped in a body. */
const maxSavedBytes = 2 * maxTextLength + 1024

const version = wholeCount('the number of a version')

/** The text as people typed it, so that repeated names are found. */
const variablesText = text({
  maxLength: maxTextLength,
  'x-rule': 'a JSON object as text, at most 2 MiB with its whitespace',
})

export const variableRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/trackers/{trackerId}/variables',
    access: 'viewer',
    query: { version: optional(version) },
    response: VariableSet,
    async handle({ services, context, path, query }) {
      const found = await (query.version === undefined
        ? currentVariables(services, path.trackerId, originOf(context))
        : variablesAt(services, path.trackerId, query.version, originOf(context)))
      return { version: found.version, variables: Object.fromEntries(found.variables) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/trackers/{trackerId}/variables/versions',
    access: 'viewer',
    response: VariableVersionList,
    async handle({ services, context, path }) {
      const versions = await listVariableVersions(services, path.trackerId, originOf(context))
      return { versions: versions.map((each) => ({ ...each, changedAt: formatInstant(each.changedAt) })) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/trackers/{trackerId}/variables',
    access: 'admin',
    body: { text: variablesText, version },
    maxBodyBytes: maxSavedBytes,
    bodyNamesNobody: true,
    response: SavedVariables,
    async handle({ services, context, path, body }) {
      const { version } = await editVariables(
        services,
        path.trackerId,
        {
          apply: (_current, problems) => parseVariables(body.text, problems) ?? new Map(),
          basedOn: body.version,
        },
        originOf(context),
      )
      return { version }
    },
  }),
]
