import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  bashCompletion,
  completables,
  fishCompletion,
  zshCompletion,
} from '../../src/cli/commands/completion.ts'
import { control, copyright, debianChangelog, md5sums } from './debian-files.ts'
import { manPage, programForHelp } from './man-page.ts'
import { root } from './root.ts'

export const architectures = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' } as const

export function hasArchitecture(target: string): target is keyof typeof architectures {
  return Object.hasOwn(architectures, target)
}

/** The contents of a package. */
export interface DebParts {
  /** The folder with the single executable and the third-party licences. */
  binary: string
  architecture: (typeof architectures)[keyof typeof architectures]
  version: string
  /** The time of the commit that it is built from, which every file gets. */
  date: Date
  /** The compression level, from 0 to 9. Levels above 1 save a tenth and take four times as long. */
  effort?: number
}

const debian = (file: string) => readFileSync(join(root, 'scripts/packaging/debian', file), 'utf8')
const deploy = (file: string) => readFileSync(join(root, 'deploy/systemd', file), 'utf8')

/** Builds the Debian package in a folder, and returns its path. The same parts produce the same bytes. */
export async function makeDeb(parts: DebParts, folder: string): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'lethe-deb-'))
  const put = (path: string, content: string | Buffer, mode = 0o644) => {
    const file = join(work, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
    writeFileSync(file, content)
    chmodSync(file, mode)
  }
  try {
    chmodSync(work, 0o755)
    await putFiles(parts, put)
    cpSync(join(parts.binary, 'lethe'), join(work, 'usr/lib/lethe/lethe'))
    const kibibytes = Number(
      execFileSync('du', ['-sk', '--apparent-size', work], { encoding: 'utf8' }).split('\t')[0],
    )
    put('DEBIAN/md5sums', md5sums(work))
    put('DEBIAN/control', control(parts, kibibytes))
    put('DEBIAN/conffiles', '/etc/lethe/lethe.env\n')
    for (const script of ['postinst', 'prerm', 'postrm']) put(`DEBIAN/${script}`, debian(script), 0o755)
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `lethe_${parts.version}_${parts.architecture}.deb`)
    // With one thread, because the distribution of the work would affect the bytes.
    const packing = ['-Zxz', `-z${parts.effort ?? 1}`, '--threads-max=1']
    execFileSync('dpkg-deb', ['--root-owner-group', ...packing, '--build', work, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(Math.floor(parts.date.getTime() / 1_000)) },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    assert.ok(statSync(file).size > 0)
    return file
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function putFiles(
  { binary, version, date }: DebParts,
  put: (path: string, content: string | Buffer, mode?: number) => void,
): Promise<void> {
  const packed = (text: string) => gzipSync(text, { level: 9 })
  const units = 'usr/lib/systemd/system'
  put(`${units}/lethe.service`, packagedUnit(deploy('lethe.service')))
  put(`${units}/lethe-backup.service`, debian('lethe-backup.service'))
  put(`${units}/lethe-backup.timer`, debian('lethe-backup.timer'))
  put('usr/lib/sysusers.d/lethe.conf', debian('sysusers.conf'))
  put('usr/bin/lethe', packagedWrapper(deploy('lethe')), 0o755)
  put('usr/lib/lethe/backup', debian('backup'), 0o755)
  put('etc/lethe/lethe.env', deploy('lethe.env').replace(/^#.*\n/, debianSettingsHead), 0o600)
  const commands = [...completables(await programForHelp())]
  put('usr/share/bash-completion/completions/lethe', bashCompletion(commands))
  put('usr/share/zsh/vendor-completions/_lethe', zshCompletion(commands))
  put('usr/share/fish/vendor_completions.d/lethe.fish', fishCompletion(commands))
  put('usr/share/man/man1/lethe.1.gz', packed(await manPage(date)))
  const docs = 'usr/share/doc/lethe'
  put(`${docs}/changelog.gz`, packed(debianChangelog(version, date)))
  put(`${docs}/copyright`, copyright())
  put(`${docs}/README.Debian`, debian('README.Debian'))
  put(
    `${docs}/THIRD-PARTY-LICENCES.txt.gz`,
    packed(readFileSync(join(binary, 'THIRD-PARTY-LICENCES.txt'), 'utf8')),
  )
  put('usr/share/lintian/overrides/lethe', debian('lintian-overrides'))
}

const debianSettingsHead = '# The settings of the service, read at start. lethe(1) lists every variable.\n'

/** The unit in deploy/systemd with the package's program and the user that the package creates. */
export function packagedUnit(unit: string): string {
  return replaced(unit, [
    [/^#(?:.*\n#)*.*\n\n/, ''],
    ['/usr/bin/node /opt/lethe/bin/lethe.js', '/usr/lib/lethe/lethe'],
    ['file:///opt/lethe/README.md', 'man:lethe(1)'],
    [
      /# A user that exists while the service runs.*\nDynamicUser=yes\nUser=lethe\n/,
      'User=lethe\nGroup=lethe\n',
    ],
    // The executable contains its own code cache.
    [/# Node's compile cache.*\n(?:CacheDirectory.*\n)+Environment=XDG_CACHE_HOME.*\n/, ''],
  ])
}

/**
 * The same for the program, as a wrapper that works on the service's store. Other users than root get the
 * bare program.
 */
export function packagedWrapper(wrapper: string): string {
  return replaced(wrapper, [
    [
      /^#!\/bin\/sh\n(?:#.*\n)*/,
      `#!/bin/sh
# As root, runs a command as the service's user, with its store and settings. It cannot read other users' files; pipe them:
# sudo lethe import - < visits.ndjson
if [ "$(id -u)" != 0 ] || [ ! -d /run/systemd/system ]; then exec /usr/lib/lethe/lethe "$@"; fi
`,
    ],
    ['--property=DynamicUser=yes ', ''],
    ['--property=CacheDirectory=lethe --property=CacheDirectoryMode=0700 ', ''],
    [' --setenv=XDG_CACHE_HOME=/var/cache', ''],
    ['/usr/bin/node /opt/lethe/bin/lethe.js', '/usr/lib/lethe/lethe'],
  ])
}

function replaced(text: string, changes: readonly (readonly [RegExp | string, string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    const next = changed.replace(from, () => to)
    assert.notEqual(next, changed, `${from} is not there any more`)
    return next
  }, text)
}
