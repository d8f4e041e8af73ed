#!/usr/bin/env node
import { become } from './launch/child.js'
import { prepare } from './launch/prepare.js'

await become(await prepare({ dev: true }), process.argv.slice(2))
