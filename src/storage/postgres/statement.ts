import { hash } from 'node:crypto'

/** SQL that each connection parses once and then knows by its name. */
export interface Statement {
  name: string
  text: string
}

export type Value = string | number | boolean | null | readonly (string | number | null)[]

export function statement(text: string): Statement {
  return { name: `lethe_${hash('sha1', text).slice(0, 16)}`, text }
}

/** Replaces question marks by numbered parameters, from `first` on. */
export function numbered(text: string, first: number): string {
  let number = first
  return text.replaceAll('?', () => `$${number++}`)
}
