import { become } from '../../bin/launch/child.js'
import { installNode, PIN } from '../../bin/launch/runtime.js'

/**
 * Runs the script again under the pinned Node where another one runs it: what is built then depends on the sources alone. Hands back
 * whether the script is the one that does the work.
 */
export async function underPinnedNode(): Promise<boolean> {
  if (process.versions.node === PIN.version) return true
  const { platform, arch } = process
  await become(await installNode({ platform, arch }), process.argv.slice(1))
  return false
}
