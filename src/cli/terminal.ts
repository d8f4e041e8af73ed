import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Config } from '../config.ts'

/** Where a command reads and writes. */
export interface Terminal {
  env: NodeJS.ProcessEnv
  /** A line of what was asked for. */
  print(line: string): void
  /** What was asked for as it comes, no faster than it is taken. */
  pour(text: AsyncIterable<string>): Promise<void>
  /** A line for people. */
  tell(line: string): void
  /** The answer to a question; `null` where nobody can answer, as in a script. */
  ask(question: string): Promise<string | null>
  /** How wide the screen is that people see `tell` on; `null` where there is none, as in a script. */
  columns(): number | null
  /** A line for people that gives way to the next line of whatever kind; empty, to nothing. For screens alone. */
  draw(line: string): void
}

/** How wide a screen is taken to be that does not say. */
const usualColumns = 80

/** The terminal the process runs in. Questions go to standard error, so that standard output holds results alone. */
export function processTerminal(): Terminal {
  process.stdout.on('error', onUnprintable)
  // What is only for people is nothing to fail for.
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

/** Results that nobody gets: the command has failed, unless its reader, such as head, had enough. */
function onUnprintable({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`error: Cannot write to standard output: ${message}.\n`)
  process.exit(1)
}

/**
 * The environment of the process, out of which its settings are then taken: passwords stand in them, and whatever writes the environment
 * down later, such as a report of Node on its own death, would write them down too.
 */
function takeEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env }
  for (const name of Object.keys(env)) if (name.startsWith('LETHE_')) delete process.env[name]
  return env
}

/** A value from its flag or, on a terminal, from whoever sits there. `UsageError` in a script that left the flag out. */
export async function flagOrAnswer(
  { ask }: Terminal,
  value: string | undefined,
  flag: string,
  question: string,
): Promise<string> {
  const answer = value ?? (await ask(question))
  if (answer === null) throw new UsageError(`${flag} is missing. Add --help for how it is used.`)
  return answer
}

/** Where a browser finds the console: where the operator says, else where the service listens. */
export function consoleUrl({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return publicUrl ?? reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)
}

/** An address that a browser can open, where a service listens on all of them. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

/** A command line that cannot be meant as it stands: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}
