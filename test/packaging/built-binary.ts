import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { hasArchitecture } from '../../scripts/packaging/make-deb.ts'
import { root } from '../../scripts/packaging/root.ts'
import { ownTarget } from '../../scripts/packaging/targets.ts'

const own = ownTarget() ?? 'none'

/** The target of what is built only on Linux: packages and images. */
export const target = hasArchitecture(own) ? own : 'linux-x64'

/** Why tests of these are skipped; `false` if they run. */
export const notOnLinux =
  !hasArchitecture(own) && `it is made on Linux, not on ${process.platform}-${process.arch}`

/** Builds the single executable where the builds of packages and images expect it, and returns its folder. */
export function buildBinary(): string {
  execFileSync(process.execPath, ['scripts/build-binary.ts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return join(root, 'dist/binary', target)
}
