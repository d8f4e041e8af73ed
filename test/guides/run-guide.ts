import assert from 'node:assert/strict'
import { blocks, read, section } from '../docs/markdown.ts'
import type { Shell } from './shell.ts'
import { Names, readTranscript } from './transcript.ts'

/** Something that a test does in the place of a command, such as `sudo systemctl stop lethe`; a text is what it printed. */
export type StandIns = Record<string, () => Promise<unknown>>

interface GuideRun {
  shell: Shell
  /** What the guide calls something, and what it is here. */
  names: Record<string, string>
  standIns?: StandIns
  /** The one section to run; all of the guide without it. */
  only?: string
}

/** Runs the commands of a guide one after the other, and fails where one prints something else than the guide shows. */
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
