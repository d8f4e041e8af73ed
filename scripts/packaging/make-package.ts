import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleModules } from './bundle.ts'
import { carriedFiles } from './carried-files.ts'
import { licencesOf, packagesIn } from './licences.ts'
import { readManifest, writeManifest } from './manifest.ts'
import { root } from './root.ts'

const completions = { bash: 'lethe.bash', zsh: '_lethe', fish: 'lethe.fish' }

/**
 * Builds the published package of the program in a folder: the layout of a clone, with JavaScript instead of
 * the sources and every dependency inside, so that an installation downloads nothing else.
 */
export async function makePackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const metafile = await bundleModules(join(folder, 'src'))
  await copyCarriedFiles(folder)
  copyLauncher(folder)
  const { name, version, description, license, type, engines } = readManifest('package.json')
  const bin = { lethe: 'bin/lethe.js' }
  writeManifest(folder, { name, version, description, license, type, engines, bin })
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  copyFileSync(join(root, 'scripts/packaging/package-readme.md'), join(folder, 'README.md'))
  writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), licencesOf(packagesIn(metafile)))
  writeCompletions(folder)
}

async function copyCarriedFiles(folder: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'lethe-package-'))
  try {
    for (const [path, file] of await carriedFiles(work)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      copyFileSync(file, join(folder, path))
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The launcher of the clone. Its steps for installing and building do nothing here. */
function copyLauncher(folder: string): void {
  cpSync(join(root, 'bin/launch'), join(folder, 'bin/launch'), { recursive: true })
  copyFileSync(join(root, 'bin/lethe.js'), join(folder, 'bin/lethe.js'))
  chmodSync(join(folder, 'bin/lethe.js'), 0o755)
  const run = join(folder, 'bin/launch/run.js')
  const text = readFileSync(run, 'utf8')
  const started = text.replace('../../src/main.ts', '../../src/main.js')
  if (started === text) throw new Error('bin/launch/run.js does not start src/main.ts.')
  writeFileSync(run, started)
}

/** The completion scripts for shells, for packagers. */
function writeCompletions(folder: string): void {
  mkdirSync(join(folder, 'completions'))
  for (const [shell, file] of Object.entries(completions)) {
    const args = [join(folder, 'src/main.js'), 'completion', shell]
    writeFileSync(join(folder, 'completions', file), execFileSync(process.execPath, args))
  }
}
