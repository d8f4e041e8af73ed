import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { postgresProgram, postgresUser } from './postgres-program.ts'

// The parent of a PostgreSQL server, which stops it even if the tests are killed. Each line of the input is a
// signal for the server. At the end of the input, the server stops and its folder is deleted.

const [folder = '', ...parameters] = process.argv.slice(2)
const server = spawn(postgresProgram('postgres', folder), ['-D', join(folder, 'data'), ...parameters], {
  stdio: ['ignore', 'inherit', 'inherit'],
  ...postgresUser(),
})
let isOver = false
const signals = createInterface({ input: process.stdin })
signals.on('line', (signal) => {
  if (signal === 'SIGINT' || signal === 'SIGQUIT' || signal === 'SIGKILL') server.kill(signal)
})
signals.on('close', () => {
  isOver = true
  server.kill('SIGQUIT')
})
server.once('exit', (code) => {
  if (isOver) rmSync(folder, { recursive: true, force: true })
  process.exit(code ?? 1)
})
