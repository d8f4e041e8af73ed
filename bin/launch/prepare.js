import { fileURLToPath } from 'node:url'
import { ensureConsole } from './console.js'
import { ensureDependencies } from './dependencies.js'
import { LaunchError } from './launch-error.js'
import { ensureNode } from './runtime.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Prepares a fresh clone for running; if that fails, ends the process with one line on stderr.
 *
 * @param {{ dev: boolean }} needs whether the command also needs the development dependencies
 * @returns {Promise<string>} the path of a sufficiently new Node, possibly this one
 */
export async function prepare({ dev }) {
  // Both may download, so they run concurrently. Each may finish: half an installation is useless.
  const [node, dependencies] = await Promise.allSettled([ensureNode(), ensureDependencies(root, { dev })])
  if (node.status === 'rejected') return giveUp(node.reason)
  if (dependencies.status === 'rejected') return giveUp(dependencies.reason)
  try {
    await ensureConsole(root)
  } catch (error) {
    return giveUp(error instanceof Error ? error : new Error(String(error)))
  }
  return node.value
}

/**
 * @param {Error} error
 * @returns {never}
 */
function giveUp(error) {
  if (error instanceof LaunchError && error.signal) process.kill(process.pid, error.signal)
  else console.error(`lethe: ${error.message}`)
  process.exit(1)
}
