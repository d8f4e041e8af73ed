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

/** What a command line left behind. */
export interface Outcome {
  /** The exit code; `null` when a signal ended it. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** A command that ran in this process, with what it asked. */
export interface LocalOutcome extends Outcome {
  asked: string[]
  /** What was drawn on the screen, in order. */
  drawn: string[]
}

/** The program at work as a process of its own. */
export interface RunningProgram {
  pid: number
  stdout(): string
  stderr(): string
  /** Waits until the output so far matches, and hands back the match. Fails when the program ends before. */
  waitFor(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>
  /** Sends text to its standard input, which stays open. */
  type(text: string): void
  /** Reads no more of its standard output, as `head` does. */
  closeOutput(): void
  kill(signal: NodeJS.Signals): void
  /** How it ended, all output included. */
  ended: Promise<Outcome>
}

type Environment = Record<string, string>

/** A folder with a store of its own, and the command line on it. */
export interface CommandLine {
  folder: string
  storePath: string
  /**
   * Runs a command in this process. Somebody sits at the terminal only when `answers` or `columns` are given.
   * An answer can be a function that does something before it answers.
   */
  run(
    args: readonly string[],
    options?: {
      answers?: readonly (string | (() => Promise<string>))[]
      columns?: () => number
      env?: Environment
      /** Called with each line for people, when it comes. */
      onTold?: (line: string) => void
    },
  ): Promise<LocalOutcome>
  /** Runs the program as a process until it ends. */
  runProgram(
    args: readonly string[],
    options?: { input?: string | Uint8Array; env?: Environment },
  ): Promise<Outcome>
  /** Starts the program as a process, which Node runs with these flags; it ends with the test at the latest. */
  startProgram(args: readonly string[], env?: Environment, flags?: readonly string[]): RunningProgram
  /** Whether these bytes stand in any file of the folder. */
  holdsBytes(text: string): boolean
}

/** The program's entry in a clone, as its launcher runs it. */
export const sourcePath = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The same of the bundle that was made for all tests, where one was. */
export const programPath = process.env.LETHE_TEST_PROGRAM ?? sourcePath

const timeoutMs = 90_000

/** A command line on a store in its folder, or on the one at `store`. */
export function commandLine(t: Lifetime, store?: string, program = programPath): CommandLine {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-'))
  const storePath = join(folder, 'lethe.db')
  const children: ChildProcessWithoutNullStreams[] = []
  const settings = {
    LETHE_STORE: store ?? `sqlite:${storePath}`,
    LETHE_PORT: '0',
    // Others may work on it from other folders.
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
      // A program that ends early leaves the rest of its input unread.
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

/** The environment of the tests without what would configure the program. */
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

/** Every line of an output as the JSON it must be. */
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

/** Fails unless a command printed exactly one JSON object and nothing for people; hands it back. */
export function onlyJson(outcome: Outcome): Record<string, unknown> {
  assert.equal(outcome.code, 0, outcome.stderr)
  const [object, ...others] = jsonLines(outcome.stdout)
  assert.ok(object && others.length === 0, `not one line: ${outcome.stdout}`)
  return object
}

/** Fails unless a command ended with this code, one line that says why, and no result; with `--json` why stands there alone. */
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

/** Sends a request as any client would. `data` is empty where the answer is an error. */
export async function callApi(url: string, key: string, method = 'GET'): Promise<ApiAnswer> {
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${key}` } })
  const body: unknown = await response.json()
  const data = isObject(body) && isObject(body.data) ? body.data : {}
  return { status: response.status, headers: response.headers, data }
}

/** A text field of an object that came as JSON. */
export function textOf(object: Record<string, unknown>, field: string): string {
  const value = object[field]
  assert.ok(typeof value === 'string', `${field} is no text`)
  return value
}
