import type { Command } from 'commander'
import { variables } from '../config.ts'

/** What the help of a command says of the environment, by its first word; of the store where none is named. */
const named: Record<string, readonly (keyof typeof variables)[]> = {
  lethe: ['LETHE_STORE', 'LETHE_URL', 'LETHE_API_KEY'],
  subjects: ['LETHE_URL', 'LETHE_API_KEY'],
  receipts: ['LETHE_URL', 'LETHE_API_KEY'],
  health: ['LETHE_HOST', 'LETHE_PORT'],
  copy: [],
  completion: [],
}

/** Puts the variables that a command cannot do without below its help. */
export function addEnvironmentHelp(program: Command): void {
  addBelow(program, program.name())
  for (const command of program.commands) addToAll(command, command.name())
}

function addToAll(command: Command, firstWord: string): void {
  addBelow(command, firstWord)
  for (const inner of command.commands) addToAll(inner, firstWord)
}

function addBelow(command: Command, firstWord: string): void {
  const names = named[firstWord] ?? ['LETHE_STORE']
  if (names.length === 0) return
  const width = Math.max(...names.map((name) => name.length))
  const lines = names.map((name) => {
    const { fallback, takes } = variables[name]
    return `  ${name.padEnd(width)}  ${takes}${fallback === '' ? '' : ` (default: ${fallback})`}`
  })
  command.addHelpText('after', `\nEnvironment:\n${lines.join('\n')}`)
}
