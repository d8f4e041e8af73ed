import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type CommandLine, commandLine } from './command-line.ts'
import type { Lifetime } from './service.ts'

/** Command lines on a store that `prepare` has filled: it runs once, and each gets a copy of the files. */
export function preparedStore(
  prepare: (cli: CommandLine) => Promise<unknown>,
): (lifetime: Lifetime) => Promise<CommandLine> {
  let preparing: Promise<PreparedFiles> | null = null
  return async (lifetime) => {
    preparing ??= prepareFiles(prepare)
    const files = await preparing
    const cli = commandLine(lifetime)
    for (const [name, bytes] of files) writeFileSync(join(cli.folder, name), bytes, { mode: 0o600 })
    return cli
  }
}

/** The store and its secret, by file name. */
type PreparedFiles = readonly (readonly [name: string, bytes: Uint8Array])[]

async function prepareFiles(prepare: (cli: CommandLine) => Promise<unknown>): Promise<PreparedFiles> {
  const ends: (() => void | Promise<void>)[] = []
  const cli = commandLine({ after: (work) => ends.push(work) })
  try {
    await prepare(cli)
    const files = readdirSync(cli.folder).filter((name) => name.startsWith(basename(cli.storePath)))
    const name = basename(cli.storePath)
    assert.deepEqual(files.toSorted(), [name, `${name}-upkeep`], 'a prepared store must be closed')
    const secret = join(cli.folder, 'lethe.secret')
    return [cli.storePath, ...(existsSync(secret) ? [secret] : [])].map((path) => [
      basename(path),
      readFileSync(path),
    ])
  } finally {
    for (const end of ends) await end()
  }
}

/** Runs commands, and fails if one of them fails. */
export function runCommands(
  ...commands: readonly (readonly string[])[]
): (cli: CommandLine) => Promise<void> {
  return async (cli) => {
    for (const command of commands) {
      const { code, stderr } = await cli.run(command)
      assert.equal(code, 0, stderr)
    }
  }
}
