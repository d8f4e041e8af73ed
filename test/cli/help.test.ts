import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { Command } from 'commander'
import { programForHelp } from '../../scripts/packaging/man-page.ts'
import { assertRefused, commandLine } from '../support/command-line.ts'

const program = await programForHelp()

/** Every command with its path, including groups and the program itself. */
function* everyCommand(command: Command, words: string[] = []): Generator<[string[], Command]> {
  yield [words, command]
  for (const inner of command.commands) yield* everyCommand(inner, [...words, inner.name()])
}

const all = [...everyCommand(program)]
const leaves = all.filter(([, command]) => command.commands.length === 0)

describe('--help', () => {
  for (const [words, command] of all) {
    const line = ['lethe', ...words].join(' ')

    it(`of ${line} describes it and lists every argument, option and command`, async (t) => {
      const cli = commandLine(t)
      const { code, stdout, stderr } = await cli.run([...words, '--help'], { env: { LETHE_PORT: 'broken' } })
      assert.equal(code, 0)
      assert.equal(stderr, '')
      assert.ok(stdout.startsWith(`Usage: ${line} `), stdout)
      const description = command.description()
      assert.notEqual(description, '', `${line} does not say what it does`)
      assert.ok(unwrapped(stdout).includes(description))
      for (const option of command.options) {
        assert.ok(stdout.includes(`  ${option.flags}  `), `${option.flags} is missing`)
        assert.notEqual(option.description, '', `${option.flags} does not say what it is`)
      }
      for (const argument of command.registeredArguments) {
        assert.ok(argument.description, `<${argument.name()}> does not say what it is`)
        assert.ok(unwrapped(stdout).includes(argument.description))
      }
      for (const inner of command.commands) assert.match(stdout, new RegExp(`^  ${inner.name()} `, 'm'))
    })
  }

  it('lists the variables that select the store or the service', async (t) => {
    const cli = commandLine(t)
    const help = async (...words: string[]) => (await cli.run([...words, '--help'])).stdout
    const named = (text: string) => [...new Set(text.match(/LETHE_\w+/g))].sort()
    assert.deepEqual(named(await help()), ['LETHE_API_KEY', 'LETHE_STORE', 'LETHE_URL'])
    const remote = ['LETHE_API_KEY', 'LETHE_URL']
    const ofOthers: Record<string, string[]> = {
      ...{
        subjects: remote,
        requests: remote,
        ship: remote,
        receipts: remote,
        health: ['LETHE_HOST', 'LETHE_PORT'],
      },
      ...{ convert: [], copy: [], completion: [] },
    }
    for (const [words] of all.filter(([words]) => words.length > 0)) {
      const expected = ofOthers[words[0] ?? ''] ?? ['LETHE_STORE']
      assert.deepEqual(named(await help(...words)), expected, words.join(' '))
    }
    assert.match(
      await help('scrub'),
      /LETHE_STORE +sqlite:PATH or postgres:\/\/… \(default: sqlite:data\/lethe\.db\)/,
    )
  })

  it('needs no store and creates none', async (t) => {
    const cli = commandLine(t)
    for (const [words] of all) await cli.run([...words, '--help'])
    assert.deepEqual(readdirSync(cli.folder), [])
  })

  it('of a group says more than its name', () => {
    for (const [words, command] of all) {
      assert.notEqual(command.description(), words.at(-1))
    }
  })
})

describe('every command', () => {
  it('has --json', () => {
    for (const [words, command] of leaves) {
      const flags = command.options.map(({ long }) => long)
      assert.ok(flags.includes('--json'), `lethe ${words.join(' ')} has no --json`)
    }
  })

  it('rejects an unknown option as a usage error', async (t) => {
    const cli = commandLine(t)
    for (const [words, command] of leaves) {
      const args = completeArguments(words, command)
      assertRefused(await cli.run([...args, '--colour']), 2, /unknown option '--colour'/)
    }
    assert.deepEqual(readdirSync(cli.folder), [])
  })

  it('except config reports a broken configuration as a usage error, without opening a store', async (t) => {
    const cli = commandLine(t)
    for (const [words, command] of leaves.filter(([[name]]) => name !== 'config')) {
      const args = completeArguments(words, command)
      assertRefused(
        await cli.run(args, { env: { LETHE_LIMIT_IP: 'lots' } }),
        2,
        /LETHE_LIMIT_IP is "lots"; it accepts a budget/,
      )
      const mistyped = await cli.run(args, { env: { LETHE_STOER: 'sqlite:acme.db' } })
      assertRefused(mistyped, 2, /LETHE_STOER .* LETHE_STORE\./)
    }
    assert.deepEqual(readdirSync(cli.folder), [])
  })
})

describe('the program', () => {
  it('rejects an unknown command, alone or in a group, as a usage error', async (t) => {
    const cli = commandLine(t)
    assertRefused(await cli.run(['obliterate']), 2, /unknown command 'obliterate'/)
    for (const group of ['orgs', 'trackers', 'keys', 'subjects']) {
      assertRefused(await cli.run([group, 'obliterate']), 2, /unknown command 'obliterate'/)
    }
  })

  it('shows its help on standard error as a usage error if no command is given', async (t) => {
    const cli = commandLine(t)
    for (const words of [[], ['orgs'], ['trackers'], ['keys'], ['subjects']]) {
      const { code, stdout, stderr } = await cli.run(words)
      assert.equal(code, 2)
      assert.equal(stdout, '')
      assert.match(stderr, /^Usage: lethe /)
    }
  })

  it('rejects too many or too few arguments as a usage error', async (t) => {
    const cli = commandLine(t)
    assertRefused(await cli.run(['orgs', 'list', 'acme']), 2, /too many arguments/)
    assertRefused(await cli.run(['serve', '8080']), 2, /too many arguments/)
    assertRefused(await cli.run(['orgs', 'set-plan', 'acme']), 2, /missing required argument 'plan'/)
    assertRefused(await cli.run(['keys', 'rotate']), 2, /missing required argument 'id'/)
    assertRefused(await cli.run(['import']), 2, /missing required argument 'file'/)
  })
})

/** The arguments of a command, with values for all required ones. */
function completeArguments(words: readonly string[], command: Command): string[] {
  const required = command.options.filter((option) => option.mandatory).map(({ long }) => long ?? '')
  const placeholders: Record<string, string> = { identifier: 'name=x', version: '1' }
  const placeholder = (name: string) => placeholders[name] ?? 'x'
  const values = command.registeredArguments.map((each) => each.argChoices?.[0] ?? placeholder(each.name()))
  return [...words, ...values, ...required.flatMap((flag) => [flag, 'x'])]
}

/** Help text without its line breaks. */
function unwrapped(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

describe('--version', () => {
  it('prints only the version of the package', async (t) => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    const { code, stdout, stderr } = await commandLine(t).run(['--version'])
    assert.deepEqual([code, stdout.trimEnd(), stderr], [0, version, ''])
  })
})
