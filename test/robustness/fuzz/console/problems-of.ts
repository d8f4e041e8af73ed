import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Route } from '../../../../src/http/request-context.ts'
import { pathParameters } from '../../../../src/http/schemas/path-parameters.ts'

const ajv = new Ajv2020({ strict: false, unicodeRegExp: true })
addFormats.default(ajv)
const tests = new Map<unknown, (value: unknown) => boolean>()

type Schemas = Record<string, object & { type?: unknown }>

function allows(schemas: Schemas, name: string, value: unknown): boolean {
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
  if (schema === undefined) return false
  const test = tests.get(schema) ?? ajv.compile(schema)
  tests.set(schema, test)
  return test(value)
}

/** Which parameters of a request are not what the route says; `'broken'` where they cannot be told apart. */
export function problemsOf(route: Route, target: string, body: string): string[] | 'broken' {
  const [path = '', ...queries] = target.split('?')
  const problems: string[] = []
  const { query: inQuery, body: inBody }: { query: Schemas; body: Schemas } = route
  try {
    const segments = path.split('/')
    route.path.split('/').forEach((segment, i) => {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1]
      if (name && !allows(pathParameters, name, decodeURIComponent(segments[i] ?? ''))) problems.push(name)
    })
    const pairs = queries
      .join('?')
      .split('&')
      .filter((text) => text !== '')
    const names = pairs.map((pair) => decode(pair.replace(/=.*$/s, '')))
    pairs.forEach((pair, i) => {
      const name = names[i] ?? ''
      const text = decode(pair.slice(pair.indexOf('=') < 0 ? pair.length : pair.indexOf('=') + 1))
      const isNumber = inQuery[name]?.type === 'integer' && /^(0|[1-9]\d{0,15})$/.test(text)
      const isTwice = names.filter((other) => other === name).length > 1
      if (isTwice || !allows(inQuery, name, isNumber ? Number(text) : text)) problems.push(name)
    })
  } catch {
    return 'broken'
  }
  const fields: Record<string, unknown> = JSON.parse(Buffer.from(body, 'latin1').toString())
  for (const name of Object.keys(fields)) if (!allows(inBody, name, fields[name])) problems.push(name)
  return problems
}

function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
