import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commandLine, startServe } from '../support/command-line.ts'
import { runGuide } from './run-guide.ts'
import { startSampleService } from './sample-service.ts'
import { openShell, programHere } from './shell.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const noGit = spawnSync('git', ['rev-parse'], { cwd: repository }).status === 0 ? false : 'not a clone'
const noJq = spawnSync('jq', ['--version']).status === 0 ? false : 'no jq on the PATH'

test('what the readme asks the sample is answered as it shows', { skip: noJq }, async (t) => {
  const { shell, names } = await startSampleService(t)
  await runGuide('README.md', { shell, names, only: 'Send requests' })
})

test('what the readme does with data of your own goes as it shows, with files that are in the repository', async (t) => {
  const cli = commandLine(t, 'sqlite:data/acme.db')
  const shell = openShell(t, cli.folder, {}, { program: await programHere(t, cli.folder) })
  await shell.run(`ln -s '${repository}/examples' examples`)
  const serve = async () => {
    const server = await startServe(cli)
    server.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
    return '[03:01:45] INFO: listening {"url":"http://127.0.0.1:8080"}\n'
  }
  await runGuide('README.md', {
    shell,
    names: {},
    standIns: { 'npx lethe serve': serve },
    only: 'Use your own data',
  })
})

test('the files of data that the readme and the guides write are kept out of git', { skip: noGit }, () => {
  const pages = [
    'README.md',
    'docs/guides/access-request.md',
    'docs/guides/erasing-a-batch.md',
    'docs/guides/backup-and-restore.md',
    'docs/reference/commands.md',
    'examples/README.md',
  ]
  const files = pages.flatMap((page) => {
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
    const written = text.matchAll(
      /(?:--output|lethe backup(?! verify)|--from-file| >|export-subject\.js \S+ \S+) ([\w./-]+)/g,
    )
    const names = Array.from(written, ([, file = '']) => file)
    assert.ok(names.length > 0, page)
    return names
  })
  const ignored = spawnSync('git', ['check-ignore', ...files], { cwd: repository, encoding: 'utf8' })
  assert.deepEqual(ignored.stdout.trimEnd().split('\n'), files)
})
