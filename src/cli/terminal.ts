import { createInterface } from 'node:readline/promises'

/** Where a command reads and writes. */
export interface Terminal {
  env: NodeJS.ProcessEnv
  /** A line of what was asked for. */
  print(line: string): void
  /** A line for people. */
  tell(line: string): void
  /** The answer to a question; `null` where nobody can answer, as in a script. */
  ask(question: string): Promise<string | null>
}

/** The terminal the process runs in. Questions go to standard error, so that standard output holds results alone. */
export function processTerminal(): Terminal {
  // Whoever reads only the first lines, as head does, has had enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  return {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
    tell: (line) => process.stderr.write(`${line}\n`),
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
