#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { become } from './launch/child.js'
import { prepare } from './launch/prepare.js'

const node = await prepare({ dev: false })

if (node === process.execPath) {
  await import('../src/main.ts')
} else {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  await become(node, [...process.execArgv, main, ...process.argv.slice(2)])
}
