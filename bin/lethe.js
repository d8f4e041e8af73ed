#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { become } from './launch/child.js'
import { prepare } from './launch/prepare.js'

const node = await prepare({ dev: false })
const run = new URL('./launch/run.js', import.meta.url)

if (node === process.execPath) await import(run.href)
else await become(node, [...process.execArgv, fileURLToPath(run), ...process.argv.slice(2)])
