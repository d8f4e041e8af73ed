import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig, variables } from '../../src/config.ts'
import { maxIdentifierLength } from '../../src/domain/identifier.ts'
import { defaultPageSize, maxPageSize } from '../../src/domain/page.ts'
import { subjectSorts } from '../../src/domain/subject.ts'
import { headers } from '../../src/http/api/openapi/operations.ts'
import { apiRoutes } from '../../src/http/api/routes.ts'
import { publicPaths } from '../../src/http/public-routes.ts'
import { maxBodyBytes } from '../../src/http/request-body.ts'
import { code, codes, flat, read, section, tableRows } from './markdown.ts'

const page = read('docs/reference/http.md')

test('the HTTP page lists exactly the routes, with their scopes', () => {
  const rows = tableRows(section(page, 'Paths')).filter((row) => row.length === 3)
  assert.deepEqual(
    rows.map(([, request, scope]) => `${code(request)} ${code(scope)}`),
    apiRoutes.map(({ method, path, access }) => `${method} ${path} ${access}`),
  )
})

test('the HTTP page lists exactly the public paths', () => {
  const rows = tableRows(section(page, 'Paths')).filter((row) => row.length === 2)
  assert.deepEqual(
    rows.map(([path]) => code(path)),
    [...publicPaths],
  )
})

test('the HTTP page lists exactly the parameters of each list', () => {
  const rows = tableRows(section(page, 'Parameters'))
  for (const [list, operationId] of [
    ['subjects', 'listSubjects'],
    ['sessions', 'listSessions'],
    ['events', 'listEvents'],
  ]) {
    const route = apiRoutes.find((each) => each.documentation?.operationId === operationId)
    assert.deepEqual(
      rows.filter(([of]) => of === 'all' || of === list).map(([, parameter]) => code(parameter)),
      Object.keys(route?.query ?? {}),
      `the parameters of ${list}`,
    )
  }
})

test('the HTTP page states the limits of parameters', () => {
  const rules = new Map(tableRows(page).map(([, parameter, takes = '']) => [code(parameter), takes]))
  assert.equal(rules.get('limit'), `a whole number from 1 to ${maxPageSize}; ${defaultPageSize} without it`)
  assert.deepEqual(codes(rules.get('sort') ?? ''), [...subjectSorts])
  assert.match(flat(page), new RegExp(`opaque: 1 to ${maxIdentifierLength} characters`))
})

test('the HTTP page states the default of each budget', () => {
  const rows = tableRows(section(page, 'Budgets')).filter((row) => row.length === 4)
  const documented = rows.map(([, , budget = '', variable]) => [code(variable), budget.replace(/ an? /, '/')])
  assert.deepEqual(
    documented,
    Object.entries(variables)
      .filter(([name]) => name.startsWith('LETHE_LIMIT_'))
      .map(([name, { fallback }]) => [name, fallback]),
  )
})

test('the HTTP page explains exactly the headers that describe a budget', () => {
  const rows = tableRows(section(page, 'Budgets')).filter((row) => row.length === 2)
  const { ip, key } = readConfig({}).budgets
  assert.deepEqual(
    rows.map(([name]) => code(name)),
    Object.keys(headers([ip, key])).filter((name) => /^(X-RateLimit|Retry)-/.test(name)),
  )
})

test('the HTTP page states the largest body and page', () => {
  const limits = tableRows(section(page, 'Limits')).map(([, limit]) => limit)
  assert.ok(limits.includes(`${maxBodyBytes / 1024} KiB`))
  assert.ok(limits.includes(`${maxPageSize} entries`))
})
