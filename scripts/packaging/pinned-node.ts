import { become } from '../../bin/launch/child.js'
import { installNode, PIN } from '../../bin/launch/runtime.js'

/**
 * Restarts the script with the pinned Node if another one runs it, so that the result depends only on the
 * sources. Returns whether this is the process that does the work.
 */
export async function underPinnedNode(): Promise<boolean> {
  if (process.versions.node === PIN.version) return true
  const { platform, arch } = process
  await become(await installNode({ platform, arch }), process.argv.slice(1))
  return false
}
