import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { architectures } from './make-deb.ts'
import { root } from './root.ts'

/** What an image is made of. */
export interface ImageParts {
  target: keyof typeof architectures
  version: string
  revision: string
  /** When the commit was made that it is built of: every file is as old. */
  date: Date
}

/** What the first stage of the Containerfile runs. */
const programs = ['sh', 'cp', 'mkdir', 'chmod', 'chown']

/** Lets buildah keep its images in a folder, without a daemon. */
export function buildahArgs(folder: string): string[] {
  return ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
}

/** Runs buildah on images of its own, and hands back what it printed. */
export function buildahIn(folder: string): (...args: string[]) => string {
  return (...args) =>
    execFileSync('buildah', [...buildahArgs(folder), ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
}

/** Makes the image as an OCI archive at a path, by the Containerfile and out of what is on this machine. Needs buildah, and root. */
export function makeImage({ target, version, revision, date }: ImageParts, archive: string): void {
  const work = mkdtempSync(join(tmpdir(), 'lethe-image-'))
  const buildah = buildahIn(work)
  const epoch = String(Math.floor(date.getTime() / 1_000))
  try {
    putPrograms(join(work, 'base'), join(root, 'dist/binary', target, 'lethe'))
    const base = buildah('from', 'scratch').trim()
    buildah('copy', base, join(work, 'base'), '/')
    buildah('commit', base, 'localhost/lethe-base')
    const settings = Object.entries({
      BASE: 'localhost/lethe-base',
      TARGET: target,
      VERSION: version,
      REVISION: revision,
    })
    buildah(
      ...[
        'build',
        '--isolation',
        'chroot',
        '--pull=never',
        '--timestamp',
        epoch,
        '--format',
        'oci',
        '--quiet',
      ],
      ...settings.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
      ...['--file', join(root, 'Containerfile'), '--tag', `localhost/lethe:${version}`, root],
    )
    mkdirSync(dirname(archive), { recursive: true })
    rmSync(archive, { force: true })
    const layout = join(work, 'layout')
    buildah('push', '--quiet', `localhost/lethe:${version}`, `oci:${layout}:localhost/lethe:${version}`)
    // Not by buildah, whose archive would tell when it was written.
    const plain = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--mode=u=rwX,go=rX']
    execFileSync('tar', [...plain, '--create', '--file', archive, '--directory', layout, '.'])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** A root with those programs of this machine, and the libraries that they and the executable name. */
function putPrograms(folder: string, executable: string): void {
  const paths = programs.map((program) => join('/usr/bin', program))
  const libraries = [...paths, executable].flatMap((path) => librariesOf(path))
  for (const path of new Set([...paths, ...libraries])) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    copyFileSync(path, join(folder, path))
  }
  // Where a RUN looks for its shell.
  symlinkSync('usr/bin', join(folder, 'bin'))
}

function librariesOf(path: string): string[] {
  const listed = execFileSync('ldd', [path], { encoding: 'utf8' })
  return [...listed.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, library = '']) => library)
}
