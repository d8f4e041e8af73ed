import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Config } from '../config.ts'
import { LetheError } from '../domain/errors.ts'

/** Where a command reads and writes. */
export interface Terminal {
  env: NodeJS.ProcessEnv
  /** Prints a line of the result. */
  print(line: string): void
  /** Streams the result, no faster than the reader accepts it. */
  pour(text: AsyncIterable<string>): Promise<void>
  /** Prints a message for people. */
  tell(line: string): void
  /** Asks a question; `null` if nobody can answer, as in a script. */
  ask(question: string): Promise<string | null>
  /** The width of the screen that shows `tell`; `null` if there is none, as in a script. */
  columns(): number | null
  /** Draws a line that the next line of any kind replaces; an empty line clears it. For screens only. */
  draw(line: string): void
}

/** The width of a screen that does not report one. */
const usualColumns = 80

/** The terminal of this process. Questions go to standard error: standard output contains only results. */
export function processTerminal(): Terminal {
  process.stdout.on('error', onOutputError)
  // Messages for people are no reason to fail.
  process.stderr.on('error', () => {})
  let isDrawn = false
  function draw(line: string): void {
    if (isDrawn || line !== '') process.stderr.write(`\r\x1b[K${line}`)
    isDrawn = line !== ''
  }
  return {
    env: takeEnvironment(),
    print(line) {
      draw('')
      process.stdout.write(`${line}\n`)
    },
    async pour(text) {
      draw('')
      for await (const piece of text) {
        if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
      }
    },
    tell(line) {
      draw('')
      process.stderr.write(`${line}\n`)
    },
    columns: () => (process.stderr.isTTY ? process.stderr.columns || usualColumns : null),
    draw,
    async ask(question) {
      if (!process.stdin.isTTY || !process.stderr.isTTY) return null
      const prompt = createInterface({ input: process.stdin, output: process.stderr })
      try {
        return await prompt.question(question)
      } finally {
        prompt.close()
      }
    },
  }
}

/** Lost results are a failure, unless the reader, such as `head`, closed the pipe. */
function onOutputError({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`error: Cannot write to standard output: ${message}.\n`)
  process.exit(1)
}

/**
 * Returns the environment and removes Lethe's settings from the process: they contain passwords, which a
 * later dump of the environment, such as Node's diagnostic report, would include.
 */
function takeEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env }
  for (const name of Object.keys(env)) if (name.startsWith('LETHE_')) delete process.env[name]
  return env
}

/** The value of a flag or, on a terminal, the user's answer. In a script, a missing flag is an error. */
export async function flagOrAnswer(
  { ask }: Terminal,
  value: string | undefined,
  flag: string,
  question: string,
): Promise<string> {
  const answer = value ?? (await ask(question))
  if (answer === null) throw new UsageError(`${flag} is missing. Add --help for usage.`)
  return answer
}

/** Asks for `yes` on a terminal. In a script, `--yes` is missing. */
export async function requireYes(terminal: Terminal, question: string, refusal: string): Promise<void> {
  const answer = await flagOrAnswer(terminal, undefined, '--yes', question)
  if (answer.trim() !== 'yes') throw new LetheError('invalid_request', refusal)
}

/** The console's address: the configured public URL, or else the address that the service listens on. */
export function consoleUrl({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
}

/** Replaces a wildcard address by a loopback address, which a browser can open. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

/** Incorrect usage: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}
