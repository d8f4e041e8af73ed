import fc from 'fast-check'
import type { Route } from '../../../../src/http/request-context.ts'
import { pathParameters } from '../../../../src/http/schemas/path-parameters.ts'
import { isOptional } from '../../../../src/http/schemas/schema.ts'
import { encode } from '../requests/encodings.ts'
import { oddTarget } from '../requests/odd-request-line.ts'
import { textValue } from './field-values.ts'

/** A path and a query of a route, each value written in some way. */
export function targetOf({ path, query }: Route, onlyGood: boolean): fc.Arbitrary<string> {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
  const written = (place: 'path' | 'query', name: string, schema: object = {}) =>
    fc
      .tuple(textValue({ name, in: place, schema: { ...schema } }, onlyGood), encode)
      .map(([text, write]) => around(text, write))
  const schemas: Record<string, object> = pathParameters
  const filled = fc
    .tuple(...names.map((name) => written('path', name, schemas[name])))
    .map((values) => names.reduce((text, name, i) => text.replace(`{${name}}`, () => values[i] ?? ''), path))
  const pairs = [
    ...Object.entries(query).map(([name, schema]) => ({
      arbitrary: written('query', name, schema).map((value) => `${name}=${value}`),
      weight: 6,
    })),
    {
      arbitrary: fc.constantFrom('unknown=1', '__proto__=1', 'limit=1&limit=1', 'a=%zz', '&', 'name'),
      weight: 1,
    },
  ]
  const required = Object.entries(query).filter(([, schema]) => !isOptional(schema))
  const wanted = fc.tuple(
    ...required.map(([name, schema]) => written('query', name, schema).map((value) => `${name}=${value}`)),
  )
  const list = fc.oneof(
    { arbitrary: wanted, weight: 3 },
    { arbitrary: fc.array(fc.oneof(...pairs), { maxLength: 3 }), weight: onlyGood ? 0 : 2 },
  )
  return fc
    .tuple(filled, list)
    .map(([base, some]) => (some.length === 0 ? base : `${base}?${some.join('&')}`))
}

/** A target with a parameter that its route does not know, or twice. */
export function withStrayPair(target: string): fc.Arbitrary<string> {
  const joint = target.includes('?') ? '&' : '?'
  return fc
    .constantFrom('unknown=1', '__proto__=1', 'limit=1&limit=1', 'name')
    .map((pair) => `${target}${joint}${pair}`)
}

/** Writes a text into a URL, but for what still is a name of the stage. */
function around(text: string, write: (text: string) => string): string {
  return text
    .split(/(\{\{\w+\}\})/)
    .map((piece, i) => (i % 2 === 0 ? write(piece) : piece))
    .join('')
}

/** A target that leads elsewhere in the console, beside it, or that is hardly one. */
export function oddConsoleTarget(usual: string): fc.Arbitrary<string> {
  const paths = fc.constantFrom(
    ...[
      '/console',
      '/console/',
      '/console//',
      '/console/api',
      '/console/api/',
      '/console//api/keys',
      '//console/api/keys',
    ],
    ...[
      '/console/api/keys/',
      '/console/api//keys',
      '/console/api/./keys',
      '/console/api/x/../keys',
      '/console/api/keys;x',
    ],
    ...[
      '/CONSOLE/api/keys',
      '/console/API/keys',
      '/console/api/%6beys',
      '/console%2fapi%2fkeys',
      '/console/api/keys%00',
    ],
    ...[
      '/console/../v1/analytics/openapi.json',
      '/console/assets/',
      '/console/assets/..%2f..%2fpackage.json',
    ],
    ...[
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/..\\package.json',
      '/console/built-from',
      '/console/index.html',
    ],
    ...[
      '/console/index.html.br',
      '/console/assets/%zz',
      '/console/%ff',
      '/console/constructor',
      '/console/__proto__',
    ],
    ...['http://test/console/api/keys', 'http://evil.example/console/api/keys', '/console/api/keys?x=1#y'],
    ...[
      `/console/${'a/'.repeat(4_000)}`,
      `/console/api/${'%41'.repeat(3_000)}`,
      '/console/api/keys/*/rotate',
      '/console/*',
    ],
  )
  return fc.oneof(paths, oddTarget(usual))
}
