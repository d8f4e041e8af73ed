import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCli } from '../../src/cli/run-cli.ts'
import type { Lifetime } from './service.ts'
import { testSecretFile } from './test-keyring.ts'

/** The result of a command. */
export interface Outcome {
  /** The exit code; `null` if a signal ended the process. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** The result of a command that ran in this process, with the questions it asked. */
export interface LocalOutcome extends Outcome {
  asked: string[]
  /** What was drawn on the terminal, in order. */
  drawn: string[]
}

/** The program running as a process. */
export interface RunningProgram {
  pid: number
  stdout(): string
  stderr(): string
  /** Waits until the output matches and returns the match. Fails if the program ends first. */
  waitFor(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>
  /** Writes to its standard input, which stays open. */
  type(text: string): void
  /** Stops reading its standard output, as `head` does. */
  closeOutput(): void
  kill(signal: NodeJS.Signals): void
  /** Its result, with all output. */
  ended: Promise<Outcome>
}

type Environment = Record<string, string>

/** A folder with a store, and the commands that use it. */
export interface CommandLine {
  folder: string
  storePath: string
  /**
   * Runs a command in this process, on a terminal only if `answers` or `columns` is given. An answer can be a
   * function that does something before it answers.
   */
  run(
    args: readonly string[],
    options?: {
      answers?: readonly (string | (() => Promise<string>))[]
      columns?: () => number
      env?: Environment
      /** Called with each line on standard error as it is written. */
      onTold?: (line: string) => void
    },
  ): Promise<LocalOutcome>
  /** Runs the program as a process until it ends. */
  runProgram(
    args: readonly string[],
    options?: { input?: string | Uint8Array; env?: Environment },
  ): Promise<Outcome>
  /** Starts the program as a process, with these flags for Node. It is killed when the test ends. */
  startProgram(args: readonly string[], env?: Environment, flags?: readonly string[]): RunningProgram
  /** Whether any file in the folder contains this text. */
  holdsBytes(text: string): boolean
}

/** The program's entry in a clone, as its launcher runs it. */
export const sourcePath = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The program that tests start: the bundle if one was made, otherwise the source. */
export const programPath = process.env.LETHE_TEST_PROGRAM ?? sourcePath

const timeoutMs = 90_000

/** The command line on a store in its own folder, or on the store at the address `store`. */
export function commandLine(t: Lifetime, store?: string, program = programPath): CommandLine {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-'))
  const storePath = join(folder, 'lethe.db')
  const children: ChildProcessWithoutNullStreams[] = []
  const settings = {
    LETHE_STORE: store ?? `sqlite:${storePath}`,
    LETHE_PORT: '0',
    // Other command lines may use the same store from other folders.
    ...(store?.startsWith('postgres') && { LETHE_SECRET_FILE: testSecretFile() }),
  }
  t.after(async () => {
    for (const child of children) await end(child)
    rmSync(folder, { recursive: true, force: true })
  })

  function start(
    args: readonly string[],
    env: Environment = {},
    flags: readonly string[] = [],
  ): ChildProcessWithoutNullStreams {
    const child = spawn(process.execPath, [...flags, program, ...args], {
      cwd: folder,
      env: { ...outerEnvironment(), ...settings, ...env },
    })
    children.push(child)
    return child
  }

  return {
    folder,
    storePath,
    async run(args, { answers, columns, env = {}, onTold } = {}) {
      const stdout: string[] = []
      const stderr: string[] = []
      const asked: string[] = []
      const drawn: string[] = []
      const left = [...(answers ?? [])]
      const code = await runCli(args, {
        env: { ...settings, ...env },
        print: (line) => stdout.push(`${line}\n`),
        async pour(text) {
          for await (const piece of text) stdout.push(piece)
        },
        tell(line) {
          stderr.push(`${line}\n`)
          onTold?.(line)
        },
        async ask(question) {
          if (answers === undefined) return null
          asked.push(question)
          const answer = left.shift()
          assert.ok(answer !== undefined, `asked once too often: ${question}`)
          return typeof answer === 'string' ? answer : answer()
        },
        columns: () => columns?.() ?? null,
        draw: (line) => drawn.push(line),
      })
      assert.deepEqual(left, [], 'asked less than expected')
      return { code, signal: null, stdout: stdout.join(''), stderr: stderr.join(''), asked, drawn }
    },
    runProgram(args, { input = '', env } = {}) {
      const child = start(args, env)
      const watched = watch(child)
      // A program that ends early leaves input unread.
      child.stdin.on('error', () => {})
      child.stdin.end(input)
      return watched.ended
    },
    startProgram: (args, env, flags) => watch(start(args, env, flags)),
    holdsBytes(text) {
      const files = readdirSync(folder).map((file) => readFileSync(join(folder, file)))
      return files.some((bytes) => bytes.includes(text))
    },
  }
}

function watch(child: ChildProcessWithoutNullStreams): RunningProgram {
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  }
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...output }))
  })
  let isOver = false
  child.once('close', () => {
    isOver = true
  })
  return {
    pid: child.pid ?? 0,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async waitFor(stream, pattern) {
      const timeout = AbortSignal.timeout(timeoutMs)
      for (;;) {
        const match = pattern.exec(output[stream])
        if (match) return match
        const soFar = `${output.stdout}${output.stderr}`
        assert.ok(!isOver, `the program ended before ${pattern} came: ${soFar}`)
        const more = once(child[stream], 'data', { signal: timeout }).catch(() =>
          assert.fail(`${pattern} never came: ${soFar}`),
        )
        await Promise.race([more, ended])
      }
    },
    type: (text) => child.stdin.write(text),
    closeOutput: () => child.stdout.destroy(),
    kill: (signal) => child.kill(signal),
    ended,
  }
}

async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** The environment of the tests, without variables that would configure the program. */
function outerEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(LETHE_|OTEL_|NODE_TEST)/.test(name)),
  )
}

/** Starts `lethe serve` and waits until it listens. */
export async function startServe(
  cli: CommandLine,
  env: Environment = {},
): Promise<RunningProgram & { url: string }> {
  const program = cli.startProgram(['serve'], env)
  const [, url = ''] = await program.waitFor('stdout', /"url":"([^"]+)".*\n/)
  return { ...program, url }
}

/** Parses each line of an output as a JSON object. Fails if one is not. */
export function jsonLines(text: string): Record<string, unknown>[] {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line is not ended')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const value: unknown = JSON.parse(line)
      assert.ok(isObject(value), `not an object: ${line}`)
      return value
    })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the one JSON object that a successful command printed. Fails if it printed anything else. */
export function onlyJson(outcome: Outcome): Record<string, unknown> {
  assert.equal(outcome.code, 0, outcome.stderr)
  const [object, ...others] = jsonLines(outcome.stdout)
  assert.ok(object && others.length === 0, `not one line: ${outcome.stdout}`)
  return object
}

/**
 * Fails unless a command ended with this code, printed a one-line reason and no result. With `--json`, the
 * output may hold the error.
 */
export function assertRefused(outcome: Outcome, code: 1 | 2, reason: RegExp): void {
  if (outcome.stdout !== '') {
    const [object, ...others] = jsonLines(outcome.stdout)
    assert.deepEqual([Object.keys(object ?? {}), others], [['error'], []], outcome.stdout)
  }
  assert.match(outcome.stderr, /^error: [^\n]+\n(?:Add --help for usage\.\n)?$/)
  assert.match(outcome.stderr, reason)
  assert.equal(outcome.code, code, outcome.stderr)
}

export interface ApiAnswer {
  status: number
  headers: Headers
  data: Record<string, unknown>
}

/** Sends a request with a key. `data` is empty if the answer is an error. */
export async function callApi(url: string, key: string, method = 'GET'): Promise<ApiAnswer> {
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${key}` } })
  const body: unknown = await response.json()
  const data = isObject(body) && isObject(body.data) ? body.data : {}
  return { status: response.status, headers: response.headers, data }
}

/** A string field of a JSON object. Fails if there is none. */
export function textOf(object: Record<string, unknown>, field: string): string {
  const value = object[field]
  assert.ok(typeof value === 'string', `${field} is no text`)
  return value
}
