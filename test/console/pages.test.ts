import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ensureConsole } from '../../bin/launch/console.js'
import { programFolder } from '../../src/runtime/program-files.ts'
import { errorOf } from '../support/answers.ts'
import { startShop } from '../support/shop.ts'

await ensureConsole(fileURLToPath(new URL('../..', import.meta.url)))
const pages = programFolder('console/dist')
const shop = await startShop({ after }, { scopes: ['analytics:view'] })

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(shop.url + path, { headers, redirect: 'manual' })

async function assetPaths(): Promise<string[]> {
  const page = await (await get('/console')).text()
  return [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
}

describe('the pages', () => {
  test('are the target of the redirect from /', async () => {
    const response = await get('/')
    assert.equal(response.status, 302)
    assert.equal(response.headers.get('location'), '/console')
    assert.equal((await fetch(shop.url)).url, `${shop.url}/console`)
  })

  test('are one page at every path below /console, which is not cached', async () => {
    const first = await (await get('/console')).text()
    for (const path of [
      '/console/',
      '/console/keys',
      '/console/trackers/a%2Fb/subjects/%F0%9F%A6%A6',
      '/console/nothing',
      '/console/index.html',
    ]) {
      const response = await get(path)
      assert.equal(response.status, 200, path)
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.equal(await response.text(), first)
    }
  })

  test('refer to files that can be cached forever', async () => {
    const paths = await assetPaths()
    assert.equal(paths.length, 6)
    for (const path of paths) {
      assert.match(path, /^\/console\/assets\/\w+-[0-9a-f]{10}\.(js|css|svg|woff2)$/)
      const response = await get(path)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    }
    errorOf(await shop.ask('/console/assets/app-0000000000.js'), 'not_found')
  })

  test('are compressed for clients that accept it, with the same content', async () => {
    for (const path of ['/console', ...(await assetPaths())].filter((each) => !each.endsWith('.woff2'))) {
      const plain = await getAsIs(path)
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.equal(plain.headers.vary, 'Accept-Encoding')
      for (const [accepted, encoding, expand] of [
        ['gzip, deflate, br;q=0.9', 'br', brotliDecompressSync],
        ['gzip', 'gzip', gunzipSync],
        ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
      ] as const) {
        const { headers, body } = await getAsIs(path, { 'accept-encoding': accepted })
        assert.equal(headers['content-encoding'], encoding)
        assert.deepEqual(expand(body), plain.body)
      }
    }
  })

  test('need less than 60 kB of compressed JavaScript at first, and for all other pages', async () => {
    const bytesOf = async (files: string[]) => {
      let bytes = 0
      for (const file of files) {
        const response = await get(`/console/${file}`, { 'accept-encoding': 'gzip, br' })
        bytes += Number(response.headers.get('content-length'))
      }
      return bytes
    }
    const scripts = pages.names().filter((each) => each.endsWith('.js'))
    const linked = (await assetPaths()).map((path) => path.replace('/console/', ''))
    const [first, others] = [scripts.filter((each) => linked.includes(each)), new Set(scripts)]
    for (const each of first) others.delete(each)
    assert.equal(first.length, 3)
    const later = await Promise.all([...others].toSorted().map((each) => bytesOf([each])))
    assert.equal(later.length, 3)
    const [atFirst, [editor = 0, more = 0, passkeys = 0]] = [await bytesOf(first), later]
    assert.ok(atFirst > 10_000 && atFirst < 60_000, `${atFirst} bytes at first`)
    assert.ok(more > 10_000 && more < 60_000, `${more} bytes for other pages`)
    assert.ok(editor > 10_000 && editor < 110_000, `${editor} bytes for the editor`)
    assert.ok(passkeys > 1_000 && passkeys < 4_000, `${passkeys} bytes for passkeys`)
  })

  test('include one font, which is not compressed again and is allowed by the policy', async () => {
    const fonts = (await assetPaths()).filter((each) => each.endsWith('.woff2'))
    assert.equal(fonts.length, 1)
    const response = await get(fonts[0] ?? '', { 'accept-encoding': 'gzip, br' })
    assert.equal(response.headers.get('content-type'), 'font/woff2')
    assert.equal(response.headers.get('content-encoding'), null)
    assert.match(response.headers.get('content-security-policy') ?? '', /font-src 'self'(;|$)/)
    assert.match(pages.read('inter-licence.txt').toString(), /SIL Open Font License/)
  })

  test('allow nothing from other origins, nothing inline and no framing', async () => {
    for (const path of ['/', '/console', '/console/keys', ...(await assetPaths())]) {
      const { headers } = await get(path)
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'/)
      assert.match(policy, /script-src 'self'(;|$)/)
      assert.match(policy, /style-src 'self'(;|$)/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe-|\*|http|data:/)
      for (const [name, value] of [
        ['x-frame-options', 'DENY'],
        ['referrer-policy', 'no-referrer'],
        ['x-content-type-options', 'nosniff'],
        ['cross-origin-opener-policy', 'same-origin'],
        ['cross-origin-resource-policy', 'same-origin'],
      ] as const) {
        assert.equal(headers.get(name), value, `${name} of ${path}`)
      }
      assert.equal(headers.get('x-ratelimit-limit'), null)
    }
  })

  test('serve only their own files', async () => {
    for (const path of [
      '/console/../package.json',
      '/console/%2e%2e/package.json',
      '/console/..%2fpackage.json',
      '/console/built-from',
      '/console/assets/..%2f..%2fbuild.js',
      '/console/%00',
    ]) {
      const { status, body } = await getAsIs(path)
      assert.doesNotMatch(body.toString(), /esbuild|devDependencies|^[0-9a-f]{64}$/, path)
      assert.ok(status === 200 || status >= 400, path)
    }
  })

  test('accept only GET, HEAD and OPTIONS, and name them', async () => {
    for (const path of ['/', '/console', '/console/keys']) {
      const head = await fetch(shop.url + path, { method: 'HEAD', redirect: 'manual' })
      assert.ok([200, 302].includes(head.status))
      const answer = await shop.ask(path, { method: 'POST' })
      errorOf(answer, 'invalid_request')
      assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS')
    }
  })

  test('do not make unknown paths public', async () => {
    for (const path of ['/consoles', '/Console', '/console.html', '/assets/x']) {
      errorOf(await shop.ask(path), 'unauthorized')
    }
  })
})

/** Requests a path unchanged, and returns the raw response. */
function getAsIs(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof getAsIs>>>()
  const { hostname, port } = new URL(shop.url)
  request({ hostname, port, path, headers }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
    )
  })
    .on('error', reject)
    .end()
  return promise
}
