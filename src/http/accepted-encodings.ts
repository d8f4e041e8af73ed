import type { IncomingMessage } from 'node:http'

const none: ReadonlySet<string> = new Set()

/** The encodings that a client can read; one with the weight 0 is one it cannot. Whoever does not say takes nothing but plain. */
export function readAccepted({ headers }: IncomingMessage): ReadonlySet<string> {
  const accepted = headers['accept-encoding']
  if (accepted === undefined) return none
  const weighted = String(accepted)
    .split(',')
    .map((part) =>
      part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/),
    )
  return new Set(weighted.filter(([, weight = '1']) => Number(weight) > 0).map(([name = '']) => name))
}
