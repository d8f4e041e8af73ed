import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { binaryName, ownTarget } from '../../scripts/packaging/targets.ts'
import { missing } from '../support/missing.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { useOnFirstDay } from './installed-program.ts'
import { useFactors } from './use-factors.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const target = ownTarget()
const noTarget = target ? false : `there is no binary for ${process.platform}-${process.arch}`

describe('the single executable', { skip: noTarget }, () => {
  const built = temporaryFolder({ after })
  const binary = join(built, binaryName(target ?? 'linux-x64'))
  before(() => build(built))

  it('does everything of a first day in an empty folder, without Node and npm on the PATH', async (t) => {
    const folder = temporaryFolder(t)
    const program = { command: [binary], folder, env: { PATH: '/nowhere', HOME: folder } }
    await useFactors(t, program, await useOnFirstDay(t, program))
  })

  it('unpacks nothing', async (t) => {
    const folder = temporaryFolder(t)
    execFileSync(binary, ['init'], { cwd: folder, env: { HOME: folder, TMPDIR: folder } })
    assert.deepEqual(readdirSync(folder), ['data'])
  })

  const noChroot =
    process.platform !== 'linux'
      ? 'only Linux has a chroot to try it in'
      : process.getuid?.() === 0
        ? missing('ldd') || missing('chroot')
        : 'a chroot takes root'
  it('runs with only the libraries that it links to', { skip: noChroot }, async (t) => {
    const place = temporaryFolder(t)
    chmodSync(place, 0o755)
    for (const library of librariesOf(binary)) {
      mkdirSync(dirname(join(place, library)), { recursive: true })
      copyFileSync(library, join(place, library))
    }
    copyFileSync(binary, join(place, 'lethe'))
    mkdirSync(join(place, 'state'))
    // Without a shell, chroot cannot change the directory, so the program gets the path of its store.
    const command = ['chroot', place, '/lethe']
    t.diagnostic(`beside it: ${librariesOf(binary).join(' ')}`)
    const program = { command, folder: place, env: { LETHE_STORE: 'sqlite:/state/lethe.db' } }
    await useFactors(t, program, await useOnFirstDay(t, program))
    assert.ok(existsSync(join(place, 'state/lethe.db')))
  })

  it('is identical, byte for byte, when it is built again', (t) => {
    const hash = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
    const folder = temporaryFolder(t)
    build(folder)
    assert.equal(hash(join(folder, basename(binary))), hash(binary))
  })
})

function build(folder: string): void {
  execFileSync(process.execPath, ['scripts/build-binary.ts', '--out', folder], { cwd: root })
}

/** The shared libraries of a program, including the loader. */
function librariesOf(program: string): string[] {
  return [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)].map(
    ([, file = '']) => file,
  )
}
