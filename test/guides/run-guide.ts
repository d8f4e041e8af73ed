import assert from 'node:assert/strict'
import { blocks, read, section } from '../docs/markdown.ts'
import type { Shell } from './shell.ts'
import { Names, readTranscript } from './transcript.ts'

/** Actions that replace a command such as `sudo systemctl stop lethe`; a returned text is its output. */
type StandIns = Record<string, () => Promise<unknown>>

interface GuideRun {
  shell: Shell
  /** Names in the guide and their counterparts in this run. */
  names: Record<string, string>
  standIns?: StandIns
  /** The only section to run; all of the guide by default. */
  only?: string
}

/** Runs the commands of a guide in order, and fails if the output differs from the guide. */
export async function runGuide(file: string, { shell, names, standIns = {}, only }: GuideRun): Promise<void> {
  const text = only === undefined ? read(file) : section(read(file), only)
  const exchanges = blocks(text, 'console').flatMap(readTranscript)
  assert.ok(exchanges.length > 0, `${file} has no commands`)
  const here = new Names(names)
  for (const exchange of exchanges) {
    const standIn = standIns[exchange.command]
    const output = await (standIn?.() ?? shell.run(here.translate(exchange.command)))
    here.compare(exchange, typeof output === 'string' ? output : '')
  }
}
