import module from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { cacheFolder } from './runtime.js'

// Node's compiled code is cached for the next start, which then takes half the time. The folder belongs to
// the user, because anyone who can write to it can run code. If it cannot be written, nothing is cached.
module.enableCompileCache(path.join(cacheFolder(process.platform, process.env, os.homedir()), 'compiled'))

await import('../../src/main.ts')
