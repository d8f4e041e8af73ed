import { spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Lifetime } from '../support/service.ts'

const list = fileURLToPath(new URL('tools.json', import.meta.url))
/** The folder of the tools. Not in node_modules, where TypeScript and Node ignore generated code. */
export const toolFolder = join(homedir(), '.cache', 'lethe-interop')
const done = join(toolFolder, 'installed.json')

/** Why the tools are unavailable, or `false`. The first import installs them, which takes minutes. */
export const skip = await install()

async function install(): Promise<false | string> {
  if (existsSync(done) && readFileSync(done, 'utf8') === readFileSync(list, 'utf8')) return false
  rmSync(toolFolder, { recursive: true, force: true })
  mkdirSync(toolFolder, { recursive: true })
  copyFileSync(list, join(toolFolder, 'package.json'))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  const { status, output } = await run('npm', ['install', ...options], { cwd: toolFolder })
  if (status !== 0)
    return `the tools of test/interop/tools.json could not be installed: ${output.slice(-500)}`
  copyFileSync(list, done)
  return false
}

/** A temporary folder in which the modules of the tools can be resolved. */
export function workshop(lifetime: Lifetime): string {
  const path = mkdtempSync(join(toolFolder, 'work-'))
  lifetime.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

interface Ran {
  status: number | null
  /** The output on both streams. */
  output: string
}

interface RunOptions {
  cwd: string
  env?: Record<string, string>
}

/** Runs one of the tools with the Node that runs the tests. */
export function runTool(name: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return run(process.execPath, [toolPath(name), ...args], options)
}

export function toolPath(name: string): string {
  return join(toolFolder, 'node_modules', '.bin', name)
}

export function run(command: string, args: readonly string[], { cwd, env }: RunOptions): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, output }))
  })
}

export function write(path: string, text: string): string {
  writeFileSync(path, text)
  return path
}
