import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { codes, markdownFiles, read, root, withoutBlocks } from './markdown.ts'

const cwd = fileURLToPath(root)
const sources = globSync(
  '{src,client/src,console/src,scripts,benchmarks,bin,test/support}/**/*.{ts,tsx,js}',
  { cwd },
)

/** Every word of the program’s code, without comments, which may mention removed names. */
const words = new Set(
  sources.flatMap(
    (file) => withoutComments(readFileSync(`${cwd}/${file}`, 'utf8')).match(/[A-Za-z_$][\w$]*/g) ?? [],
  ),
)

/** Names of other programs in the docs. */
const foreign = new Set([
  ...['ProxyPass', 'optionalDependencies', 'trustProxy'],
  // Fields of Matomo exports.
  ...['ecommerceOrder', 'ecommerceAbandonedCart', 'visitIp'],
  // Names of the client in version 0.2.
  ...['planErasures', 'fileJournal', 'JournalError', 'defaultErasuresPerHour'],
])

/** Names in camel case, such as `defineRoute` or `RequestContext`, and calls, such as `take(key)`. */
function identifiers(text: string): string[] {
  return codes(withoutBlocks(text)).flatMap((each) => {
    const [, called, named] = /^(?:(?:\w+\.)*(\w+)\(.*\)|([A-Za-z]\w*[a-z0-9][A-Z]\w*))$/s.exec(each) ?? []
    return called ?? named ?? []
  })
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(?<=^|\s)\/\/.*$/gm, '')
}

/** The page on conversions mentions fields of other systems. */
const ofOurs = markdownFiles().filter((file) => file !== 'docs/reference/convert.md')

for (const file of ofOurs) {
  test(`every identifier that ${file} cites exists`, () => {
    const unknown = identifiers(read(file)).filter((name) => !words.has(name) && !foreign.has(name))
    assert.deepEqual(unknown, [])
    // "`take` in `src/domain/budget.ts`": a name of one word also counts, and must be in that file.
    for (const [, name = '', path = ''] of read(file).matchAll(/`(\w+)` in\s+`([\w./-]+\.(?:ts|js))`/g)) {
      assert.match(withoutComments(read(path)), new RegExp(`\\b${name}\\b`), `${path} has no ${name}`)
    }
  })
}
