import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { npmCommand } from '../../bin/launch/child.js'
import { LaunchError } from '../../bin/launch/launch-error.js'
import { makeBinary } from './make-binary.ts'
import { makeClient } from './make-client.ts'
import { makePackage } from './make-package.ts'
import { root } from './root.ts'
import { tarball } from './tarball.ts'
import { binaryName, type Target } from './targets.ts'

/** A release that is being built. */
export interface Release {
  version: string
  /** The folder for its files. */
  folder: string
  /** The modification time of its files: that of the commit. */
  seconds: number
  /** The systems to build the single executable for. */
  targets: readonly Target[]
}

/** What could not be built, and why. */
interface Missing {
  what: string
  why: string
}

/** Both packages in npm's format. */
export async function releasePackages({ folder }: Release): Promise<void> {
  for (const [name, make] of Object.entries({ lethe: makePackage, client: makeClient })) {
    const place = join(root, 'dist', name)
    await make(place)
    npm(place, ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder])
  }
}

/** An archive with the single executable for each system. Systems whose Node is unavailable are omitted. */
export async function releaseBinaries({ version, folder, seconds, targets }: Release): Promise<Missing[]> {
  const missing: Missing[] = []
  for (const target of targets) {
    const place = join(root, 'dist/binary', target)
    try {
      await makeBinary(target, place)
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error
      missing.push({ what: `the binary for ${target}`, why: error.message })
      continue
    }
    const names = [binaryName(target), 'LICENSE', 'THIRD-PARTY-LICENCES.txt']
    const files = names.map((name) => ({
      name,
      content: readFileSync(join(place, name)),
      isExecutable: name === binaryName(target),
    }))
    writeFileSync(join(folder, `lethe-${version}-${target}.tar.gz`), tarball(files, seconds))
  }
  return missing
}

/** What other commands build from the binary, each in its own folder. */
const others = [
  { what: 'the Debian package', command: 'build:deb', output: 'dist/deb' },
  { what: 'the image', command: 'build:image', output: 'dist/image' },
]

export function releaseOthers({ folder }: Release): Missing[] {
  const { scripts }: { scripts: object } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return others.flatMap(({ what, command, output }) => {
    if (!Object.hasOwn(scripts, command)) return { what, why: `there is no npm run ${command}` }
    const place = join(root, output)
    rmSync(place, { recursive: true, force: true })
    try {
      npm(root, ['run', command])
    } catch {
      return { what, why: `npm run ${command} failed, see above` }
    }
    const made = existsSync(place) ? readdirSync(place, { withFileTypes: true }) : []
    for (const { name } of made.filter((entry) => entry.isFile())) {
      copyFileSync(join(place, name), join(folder, name))
    }
    return []
  })
}

function npm(cwd: string, args: readonly string[]): void {
  const [command, ...first] = npmCommand(process.env.npm_execpath, process.platform)
  execFileSync(command, [...first, ...args], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: command === 'npm.cmd',
  })
}
