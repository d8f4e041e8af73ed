import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { codes, markdownFiles, read, root, slug, withoutBlocks } from './markdown.ts'

/** The folders whose paths the docs cite. */
const cited = /^(src|client|docs|test|scripts|bin|openapi|benchmarks|deploy|examples)\/[\w./-]+$/

for (const file of markdownFiles()) {
  const text = withoutBlocks(read(file))

  test(`every relative link in ${file} has a target`, () => {
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const url = new URL(path, new URL(file, root))
      assert.ok(existsSync(url), `${target} does not exist`)
      if (anchor !== undefined)
        assert.ok(anchors(url).includes(anchor), `${target}: there is no such heading`)
    }
  })

  test(`every path that ${file} cites exists`, () => {
    for (const path of codes(text).filter((each) => cited.test(each))) {
      assert.ok(existsSync(new URL(path, root)), `${path} does not exist`)
    }
  })
}

function anchors(url: URL): string[] {
  const text = withoutBlocks(read(url.href))
  return [...text.matchAll(/^#+ (.+)$/gm)].map((match) => slug(match[1] ?? ''))
}
