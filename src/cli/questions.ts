import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

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
