import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installNode } from '../../bin/launch/runtime.js'
import { bundleScripts } from './bundle.ts'
import { carriedFiles, threads } from './carried-files.ts'
import { licenceOfNode, licencesOf, packagesIn } from './licences.ts'
import { root } from './root.ts'
import { binaryName, ownTarget, type Target, targets } from './targets.ts'

/**
 * Builds the single executable for a system, with its licences, in a folder. Returns the executable's path.
 */
export async function makeBinary(target: Target, folder: string): Promise<string> {
  const executable = await installNode(targets[target])
  const output = join(folder, binaryName(target))
  const work = mkdtempSync(join(tmpdir(), 'lethe-binary-'))
  try {
    const metafile = await bundleScripts(work)
    const scriptOf = (source: string) => source.replace(/^src\//, '').replace(/\.ts$/, '.js')
    const config = {
      // Its name is stored inside, so it must not reveal where it was built.
      main: scriptOf('src/main.ts'),
      executable,
      output,
      disableExperimentalSEAWarning: true,
      // V8's compiled code works only on the processor it was compiled for.
      useCodeCache: target === ownTarget(),
      assets: Object.fromEntries([
        ...(await carriedFiles(work)),
        ...threads.map((source) => [source, scriptOf(source)]),
      ]),
    }
    mkdirSync(folder, { recursive: true })
    rmSync(output, { force: true })
    writeFileSync(join(work, 'config.json'), JSON.stringify(config))
    // V8's random seed would make the compiled code of each build different.
    execFileSync(process.execPath, ['--random-seed=1', '--build-sea', 'config.json'], {
      cwd: work,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    chmodSync(output, 0o755)
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
    const others = [licencesOf(packagesIn(metafile)), licenceOfNode([executable, process.execPath])]
    writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), others.join('\n'))
    return output
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
