import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { assertRefused, commandLine, onlyJson } from '../support/command-line.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const scripts = new Map<string, string>()
const cli = commandLine({ after })

before(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await cli.run(['completion', shell])
    assert.equal(code, 0)
    scripts.set(shell, stdout)
  }
})

/** Returns the completions of a shell with this script for a line, with the cursor at its end. */
const offers: Record<string, (script: string, line: string) => string[]> = {
  bash: (script, line) =>
    run('bash', [
      ...['--norc', '-c'],
      `source "$1"; COMP_LINE="$2"; COMP_POINT=\${#2}; _lethe; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ...['bash', script, line],
    ]),
  // The arguments that zsh’s own functions would show.
  zsh: (script, line) =>
    run('zsh', [
      ...['-f', '-c'],
      `compdef() { }
       _describe() { print -rl -- "\${(@P)2}" }
       _files() { print -r -- FILES }
       source "$1"; words=("\${(@s: :)2}"); CURRENT=$#words; PREFIX=$words[-1]; _lethe`,
      ...['zsh', script, line],
    ])
      .map((each) => each.replace(/(?<!\\):.*$/, '').replaceAll('\\:', ':'))
      .filter((each) => each.startsWith(line.split(' ').at(-1) ?? '')),
  fish: (script, line) =>
    run('fish', ['-N', '-c', 'source $argv[1]; complete -C $argv[2]', script, line]).map(
      (each) => each.split('\t')[0] ?? '',
    ),
}

function run(shell: string, args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(shell, args, { encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(status, 0)
  return stdout.split('\n').filter((line) => line !== '' && line !== 'FILES')
}

function isThere(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0
}

const plans = ['business', 'free', 'pro', 'starter']
const lines: [line: string, offered: string[]][] = [
  ['lethe sub', ['subjects']],
  ['lethe subjects ', ['erase', 'export', 'find', 'list', 'show']],
  ['lethe subjects e', ['erase', 'export']],
  ['lethe variable', ['variable-tokens', 'variables']],
  ['lethe variables ', ['export', 'get', 'import', 'list', 'restore', 'set', 'unset', 'versions']],
  ['lethe variable-tokens r', ['revoke', 'rotate']],
  ['lethe orgs create --plan ', plans],
  ['lethe orgs create --name x --plan p', ['pro']],
  ['lethe orgs set-plan acme ', plans],
  ['lethe subjects export shop anna --format ', ['json', 'ndjson']],
  ['lethe subjects erase shop --d', ['--dry-run']],
  ['lethe completion ', ['bash', 'fish', 'zsh']],
  ['lethe keys create --scope analytics:v', ['analytics:view']],
]

for (const [shell, offer] of Object.entries(offers)) {
  describe(`completion for ${shell}`, { skip: !isThere(shell) && `there is no ${shell} here` }, () => {
    function scriptFile(t: TestContext): string {
      const file = join(temporaryFolder(t), 'script')
      writeFileSync(file, scripts.get(shell) ?? '')
      return file
    }

    for (const [line, offered] of lines) {
      it(`offers ${offered.join(', ')} after "${line}"`, (t) => {
        // Bash replaces only the part after the last colon.
        const expected = shell === 'bash' ? offered.map((each) => each.replace(/^.*:/, '')) : offered
        assert.deepEqual(offer(scriptFile(t), line).sort(), expected)
      })
    }

    it('offers every option of a command, --help included', (t) => {
      const offered = offer(scriptFile(t), 'lethe subjects list shop --')
      const own = ['--help', '--json', '--limit', '--prefix', '--seen-after', '--seen-before', '--sort']
      assert.deepEqual(offered.sort(), own)
    })
  })
}

describe('completion for zsh', { skip: !isThere('zsh') && 'there is no zsh here' }, () => {
  it('registers itself when it is sourced', (t) => {
    const file = join(temporaryFolder(t), 'script')
    writeFileSync(file, scripts.get('zsh') ?? '')
    const load = 'autoload -Uz compinit && compinit -u -D && source "$1" && print $_comps[lethe]'
    assert.deepEqual(run('zsh', ['-f', '-c', load, 'zsh', file]), ['_lethe'])
  })
})

describe('lethe completion', () => {
  it('prints the script as JSON with --json, and supports three shells', async () => {
    const { shell, script } = onlyJson(await cli.run(['completion', 'bash', '--json']))
    assert.deepEqual([shell, script], ['bash', scripts.get('bash')])
    assertRefused(await cli.run(['completion', 'tcsh']), 2, /Allowed choices are bash, zsh, fish/)
  })
})
