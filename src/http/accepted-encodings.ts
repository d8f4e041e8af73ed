import type { IncomingMessage } from 'node:http'

const none: ReadonlyMap<string, number> = new Map()

/** The encodings that a client can read, with their weights; one with the weight 0 it cannot. Whoever does not say takes nothing but plain. */
export function readAccepted({ headers }: IncomingMessage): ReadonlyMap<string, number> {
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
    .map(([name = '', weight = '1']) => [name, Number(weight)] as const)
  return new Map(weighted.filter(([, weight]) => weight > 0))
}

/** The one of these that a client likes best, of several the first; `null` when it can read none of them. */
export function preferredOf<Encoding extends string>(
  request: IncomingMessage,
  offered: readonly Encoding[],
): Encoding | null {
  const accepted = readAccepted(request)
  let best: Encoding | null = null
  for (const encoding of offered) {
    const weight = accepted.get(encoding) ?? 0
    if (weight > (best === null ? 0 : (accepted.get(best) ?? 0))) best = encoding
  }
  return best
}
