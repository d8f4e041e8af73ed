import { spawn } from 'node:child_process'
import path from 'node:path'
import { LaunchError } from './launch-error.js'

/**
 * @typedef {object} Ending
 * @property {number | null} code
 * @property {NodeJS.Signals | null} signal
 * @property {NodeJS.Signals | null} received
 */

/** @type {NodeJS.Signals[]} */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a child in this process group and passes on every signal this process gets. A Ctrl-C, which has
 * already reached the whole group, cannot be told apart from a `kill -INT` meant for this process alone.
 * Losing the latter would be worse, so a child may see one signal twice within milliseconds, as with npm.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<Ending>} how it ended and the first signal received; rejects if it cannot start
 */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options })
  /** @type {NodeJS.Signals | null} */
  let received = null
  const forward = (/** @type {NodeJS.Signals} */ signal) => {
    received ??= signal
    child.kill(signal)
  }
  for (const signal of FORWARDED) process.on(signal, forward)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ code, signal, received }))
    })
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward)
  }
}

/**
 * Runs a child in place of this process: same terminal, same exit code, and the same signal if it is killed.
 *
 * @param {string} command
 * @param {string[]} args
 */
export async function become(command, args) {
  const { code, signal } = await run(command, args)
  if (signal) process.kill(process.pid, signal)
  else process.exitCode = code ?? 1
}

const NPM_OPTIONS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=error',
  // With npm's default pauses between attempts, a machine without a network waits for more than a minute.
  '--fetch-retry-mintimeout=500',
  '--fetch-retry-factor=2',
]

/**
 * Runs npm in a folder. Its errors go to stderr; the rest is discarded: stdout belongs to the command.
 *
 * @param {string} folder
 * @param {string[]} args
 * @param {string} purpose what is being done, for the error message
 * @throws {LaunchError} when npm is missing, fails, or a signal arrived while it ran
 */
export async function npm(folder, args, purpose) {
  const [command, ...first] = npmCommand(process.env.npm_execpath, process.platform)
  const ending = await run(command, [...first, ...args, ...NPM_OPTIONS], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: command === 'npm.cmd',
  }).catch((error) => {
    throw new LaunchError(`${purpose} failed: cannot start npm (${error.code})`)
  })
  const signal = ending.received ?? ending.signal
  if (signal) throw new LaunchError(`${purpose} was interrupted`, signal)
  if (ending.code !== 0)
    throw new LaunchError(`${purpose} failed: npm ended with code ${ending.code}, see above`)
}

/**
 * @param {string | undefined} execPath the script of the package manager that started this process, if any
 * @param {NodeJS.Platform} platform
 * @returns {[string, ...string[]]} the command that runs npm
 */
export function npmCommand(execPath, platform) {
  const name = execPath ? path.basename(execPath) : ''
  if (execPath && /^np[mx]-cli\.js$/.test(name)) {
    return [process.execPath, path.join(path.dirname(execPath), 'npm-cli.js')]
  }
  return platform === 'win32' ? ['npm.cmd'] : ['npm']
}
