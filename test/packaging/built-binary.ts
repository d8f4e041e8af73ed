import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { hasArchitecture } from '../../scripts/packaging/make-deb.ts'
import { root } from '../../scripts/packaging/root.ts'
import { ownTarget } from '../../scripts/packaging/targets.ts'

const own = ownTarget() ?? 'none'

/** The target of what Linux alone has: packages and images. */
export const target = hasArchitecture(own) ? own : 'linux-x64'

/** Why there can be none here, or `false`. */
export const notOnLinux =
  !hasArchitecture(own) && `it is made on Linux, not on ${process.platform}-${process.arch}`

/** Makes the single executable where the build of packages and images looks for it, and hands back its folder. */
export function buildBinary(): string {
  execFileSync(process.execPath, ['scripts/build-binary.ts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return join(root, 'dist/binary', target)
}
