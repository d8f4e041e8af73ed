import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { architectures } from './make-deb.ts'
import { root } from './root.ts'

/** The contents of an image. */
interface ImageParts {
  target: keyof typeof architectures
  version: string
  revision: string
  /** The time of the commit that it is built from, which every file gets. */
  date: Date
}

/** The commands of the first stage of the Containerfile. */
const programs = ['sh', 'cp', 'mkdir', 'chmod', 'chown']

/** Makes buildah store its images in a folder, without a daemon. */
export function buildahArgs(folder: string): string[] {
  return ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
}

/** Runs buildah on its own images, and returns the output. */
export function buildahIn(folder: string): (...args: string[]) => string {
  return (...args) =>
    execFileSync('buildah', [...buildahArgs(folder), ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
}

/**
 * Builds the image as an OCI archive at a path, from the Containerfile and programs of this machine. Requires
 * buildah and root.
 */
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
    // Not by buildah, whose archive would contain the time of writing.
    const plain = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--mode=u=rwX,go=rX']
    execFileSync('tar', [...plain, '--create', '--file', archive, '--directory', layout, '.'])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * A root file system with those programs of this machine, and the libraries that they and the executable
 * need.
 */
function putPrograms(folder: string, executable: string): void {
  const paths = programs.map((program) => join('/usr/bin', program))
  const libraries = [...paths, executable].flatMap((path) => librariesOf(path))
  for (const path of new Set([...paths, ...libraries])) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    copyFileSync(path, join(folder, path))
  }
  // The path where RUN expects a shell.
  symlinkSync('usr/bin', join(folder, 'bin'))
}

function librariesOf(path: string): string[] {
  const listed = execFileSync('ldd', [path], { encoding: 'utf8' })
  return [...listed.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, library = '']) => library)
}
