import { InvalidArgumentError } from 'commander'
import { type Instant, instantRule, parseInstant } from '../domain/instant.ts'

/** How many at most: a whole number, or `all`. */
export function readLimit(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('It takes a whole number from 1 on, or all.')
  return Number(text)
}

export function readInstantOption(text: string): Instant {
  const instant = parseInstant(text)
  if (instant === null) throw new InvalidArgumentError(`It takes ${instantRule}.`)
  return instant
}
