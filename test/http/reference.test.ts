import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { errorCodes } from '../../src/domain/errors.ts'
import { openApiDocument } from '../../src/http/api/openapi/document.ts'
import { referencePage } from '../../src/http/api/reference/page.ts'
import { isObject, objectIn, textIn } from '../support/answers.ts'
import { startShop } from '../support/shop.ts'

const env = { LETHE_LIMIT_IP: '1234567/second', LETHE_LIMIT_KEY: '77/day', LETHE_LIMIT_ERASURE: '5/minute' }
const shop = await startShop({ after }, { scopes: ['analytics:view'], env })
const response = await fetch(`${shop.url}/docs`)
const page = await response.text()
const document = openApiDocument(readConfig(env))
const components = objectIn(document, 'components')

/** The visible text of markup. */
function readable(markup: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(#?\w+);/g, (entity, name: string) => entities[name] ?? entity)
    .replaceAll(/\s+/g, ' ')
}

/** The content between the start of a part of the page and the start of the next one of its kind. */
function part(opening: string, pattern: RegExp): string {
  const start = page.indexOf(opening)
  assert.ok(start >= 0, `the page has no ${opening}`)
  const rest = page.slice(start + opening.length)
  return rest.slice(0, rest.search(pattern))
}

/** Fails unless the page contains the text, apart from spaces and backticks. */
function assertTells(markup: string, text: string): void {
  const wanted = text.replaceAll('`', '').replaceAll(/\s+/g, ' ')
  assert.ok(readable(markup).includes(wanted), `the page does not tell: ${wanted}`)
}

function resolve(value: unknown): Record<string, unknown> {
  assert.ok(isObject(value))
  if (typeof value.$ref !== 'string') return value
  return value.$ref.split('/').slice(1).reduce<Record<string, unknown>>(objectIn, document)
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

const operations = Object.entries(objectIn(document, 'paths')).flatMap(([path, item]) =>
  Object.keys(isObject(item) ? item : {}).map((method) => ({
    method: method.toUpperCase(),
    path,
    operation: objectIn(item, method),
  })),
)

describe('the API reference', () => {
  assert.ok(operations.length >= 8)
  for (const { method, path, operation } of operations) {
    const id = textIn(operation, 'operationId')
    test(`documents ${method} ${path} with its scope, its parameters and every response`, () => {
      const section = part(`<section class="operation" id="${id}"`, /<section /)
      assertTells(section, `${method} ${path}`)
      assertTells(section, textIn(operation, 'summary'))
      for (const paragraph of textIn(operation, 'description').split('\n\n')) assertTells(section, paragraph)
      assertTells(
        section,
        typeof operation['x-required-scope'] === 'string' ? operation['x-required-scope'] : 'no key',
      )

      for (const parameter of list(operation.parameters).map(resolve)) {
        const entry = part(`<div id="${id}.${textIn(parameter, 'name')}">`, /<\/dd>/)
        assertTells(entry, `in the ${textIn(parameter, 'in')}`)
        assertTells(entry, textIn(parameter, 'description'))
        assert.equal(readable(entry).includes('required'), parameter.required === true)
        const schema = objectIn(parameter, 'schema')
        if (schema['x-rule'] !== undefined) assertTells(entry, textIn(schema, 'x-rule'))
        else assertTells(entry, `at most ${schema.maxLength} characters; matches ${schema.pattern}`)
        if (schema.default !== undefined) assertTells(entry, `default ${schema.default}`)
      }

      for (const [status, reference] of Object.entries(objectIn(operation, 'responses'))) {
        const answer = resolve(reference)
        const [, entry = ''] =
          new RegExp(`<li><p><span class="status s.">${status}</span>(.*?)</li>`, 's').exec(section) ?? []
        assertTells(entry, textIn(answer, 'description'))
        for (const name of Object.keys(objectIn(answer, 'headers'))) assertTells(entry, name)
        if (!('content' in answer) || !('application/json' in objectIn(answer, 'content'))) continue
        const { example } = objectIn(objectIn(answer, 'content'), 'application/json')
        if (status === '200' && example !== undefined) assertTells(section, JSON.stringify(example, null, 2))
        if (status !== '200') assert.match(entry, /href="#errors\.\w+"/)
      }
    })

    test(`shows how to send ${method} ${path} with curl`, () => {
      const section = part(`<section class="operation" id="${id}"`, /<section /)
      const [, request = ''] = /aria-label="Request"><code>(.*?)<\/code>/s.exec(section) ?? []
      const told = readable(request).replaceAll('\\ ', '')
      const examples = list(operation.parameters).filter((each) => isObject(each) && 'example' in each)
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
        textIn(
          examples.find((each) => textIn(each, 'name') === name),
          'example',
        ),
      )
      assert.ok(
        told.startsWith(method === 'GET' ? 'curl -H' : `curl -X ${method} -H`) ||
          path.endsWith('z') ||
          path.endsWith('json'),
      )
      assert.ok(told.includes(`"$LETHE_URL${filled}`), told)
      assert.equal(told.includes('Bearer $LETHE_API_KEY'), operation['x-required-scope'] !== undefined)
    })
  }

  for (const code of errorCodes) {
    test(`explains the error ${code} with its headers and an example`, () => {
      const answer = objectIn(objectIn(components, 'responses'), code)
      const section = part(`<section class="error" id="errors.${code}"`, /<\/section>/)
      assertTells(section, textIn(answer, 'description'))
      for (const name of Object.keys(objectIn(answer, 'headers'))) assertTells(section, name)
      const { example } = objectIn(objectIn(answer, 'content'), 'application/json')
      assertTells(section, JSON.stringify(example, null, 2))
    })
  }

  test('explains every header', () => {
    const headers = objectIn(components, 'headers')
    assert.ok(Object.keys(headers).length >= 7)
    for (const [name, header] of Object.entries(headers)) {
      assertTells(part(`<div id="headers.${name}">`, /<\/div>/), textIn(header, 'description'))
    }
  })

  test('explains how to send a key and what each scope allows', () => {
    assertTells(page, textIn(objectIn(objectIn(components, 'securitySchemes'), 'apiKey'), 'description'))
  })

  test('states the budgets of the service', () => {
    const table = readable(part('<table>', /<\/table>/))
    assert.match(table, /Each IP address, all requests1,234,567 a second/)
    assert.match(table, /Each key, all requests77 a day/)
    assert.match(table, /Each key, erasures only5 a minute/)
  })

  test('has no broken links and no duplicate IDs', () => {
    const ids = Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id = '']) => id)
    assert.equal(new Set(ids).size, ids.length)
    const links = Array.from(page.matchAll(/ href="#([^"]+)"/g), ([, id = '']) => id)
    assert.ok(links.length > 50)
    for (const id of links) assert.ok(ids.includes(id), `#${id} is not there`)
  })

  test('lists every section in the contents', () => {
    const contents = part('<nav aria-label="Contents">', /<\/nav>/)
    for (const { operation } of operations)
      assert.ok(contents.includes(`href="#${textIn(operation, 'operationId')}"`))
    for (const id of ['authentication', 'budgets', 'envelope', 'errors', 'headers'])
      assert.ok(contents.includes(`href="#${id}"`), id)
  })

  test('escapes all text of the document', () => {
    const markup = '<script>alert(1)</script> "quoted" & `<b>`'
    const info = { ...objectIn(document, 'info'), description: markup }
    const budget = { name: 'ip', limit: 1, windowMs: 1_000 } as const
    const budgets = { ip: budget, key: budget, erasure: budget, variables: budget }
    const files = { style: '/a', script: '/b', icon: '/c' }
    const text = referencePage([{ ...document, info }], budgets, files)
    assert.ok(
      text.includes('&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot; &amp; <code>&lt;b&gt;</code>'),
    )
    assert.ok(!text.includes('<script>alert'))
  })
})

describe('the files of the API reference', () => {
  const files = Array.from(
    page.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g),
    ([, path = '']) => path,
  )

  test('are public, unmetered and have a strict content security policy', async () => {
    assert.equal(files.length, 3)
    for (const path of ['/docs', ...files]) {
      for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
        const answer = await fetch(shop.url + path, { headers })
        assert.equal(answer.status, 200)
        assert.equal(answer.headers.get('x-ratelimit-limit'), null)
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
        assert.ok(answer.headers.get('x-request-id'))
        const policy = answer.headers.get('content-security-policy') ?? ''
        assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
        assert.doesNotMatch(policy, /unsafe|\*|http|data:/)
      }
    }
  })

  test('respond to HEAD like GET, without the body', async () => {
    for (const path of ['/docs', ...files]) {
      const [get, head] = await Promise.all([
        fetch(shop.url + path),
        fetch(shop.url + path, { method: 'HEAD' }),
      ])
      assert.equal(head.status, 200)
      assert.equal(await head.text(), '')
      for (const name of ['content-type', 'content-length', 'content-encoding', 'cache-control', 'vary'])
        assert.equal(head.headers.get(name), get.headers.get(name))
      await get.arrayBuffer()
    }
  })

  test('can be cached permanently, but only under the address in the page', async () => {
    assert.equal(response.headers.get('cache-control'), 'no-store')
    for (const path of files) {
      assert.match(path, /^\/docs\/[\w.]+\?v=[0-9a-f]{10}$/)
      const kept = await fetch(shop.url + path)
      assert.equal(kept.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      const other = await fetch(shop.url + path.replace(/v=./, 'v=x'))
      assert.equal(other.headers.get('cache-control'), 'no-store')
      assert.equal(await other.text(), await kept.text())
    }
  })

  test('have less than 25 kB in total when compressed', async () => {
    let bytes = 0
    for (const path of ['/docs', ...files]) {
      const { headers } = await fetch(shop.url + path, { headers: { 'accept-encoding': 'br' } })
      assert.equal(headers.get('content-encoding'), 'br')
      bytes += Number(headers.get('content-length'))
    }
    assert.ok(bytes > 5_000 && bytes < 25_000, `${bytes} bytes`)
  })
})
