import { hash } from 'node:crypto'

/** On a cluster a statement runs on one shard at most, or on any number of them, or it is never run there. */
export type Shards = 'one' | 'any' | 'never'

/** SQL that each connection parses once and then knows by its name. */
export interface Statement {
  name: string
  text: string
  shards: Shards
}

export type Value = string | number | boolean | null | readonly (string | number | null)[]

const made = new Map<string, Statement>()

/** The statement with this text. One that names a single subject, or none, must not need more than one shard. */
export function statement(text: string, shards: Shards = 'one'): Statement {
  const known = made.get(text)
  if (known) return known
  const fresh = { name: `lethe_${hash('sha1', text).slice(0, 16)}`, text, shards }
  made.set(text, fresh)
  return fresh
}

/**
 * Several statements that write as one, with their values one behind the other: a server has less work with it. The last may have parts
 * of its own. Not for a cluster.
 */
export function combine(first: Statement, ...others: readonly Statement[]): Statement {
  const texts = [first.text]
  let count = parameterCount(first.text)
  for (const { text } of others) {
    const behind = count
    texts.push(text.replace(parameters, (_, number) => `$${Number(number) + behind}`))
    count += parameterCount(text)
  }
  const last = texts.pop() ?? ''
  const parts = texts.map((text, i) => `part_${i} AS (${text})`).join(', ')
  return statement(`WITH ${parts}${last.startsWith('WITH ') ? `, ${last.slice(5)}` : ` ${last}`}`, 'never')
}

const parameters = /\$(\d+)/g

function parameterCount(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(parameters), ([, number]) => Number(number)))
}

/** Every statement that has been made so far: what is written down here cannot be forgotten by a test of them all. */
export function statements(): readonly Statement[] {
  return [...made.values()]
}

/** Replaces question marks by numbered parameters, from `first` on. */
export function numbered(text: string, first: number): string {
  let number = first
  return text.replaceAll('?', () => `$${number++}`)
}
