import module from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { cacheFolder } from './runtime.js'

// What Node compiles is kept for the next start, which takes half the time with it. The folder is the user's own: who could write
// to it could have anything run. Where it cannot be written, nothing is kept.
module.enableCompileCache(path.join(cacheFolder(process.platform, process.env, os.homedir()), 'compiled'))

await import('../../src/main.ts')
