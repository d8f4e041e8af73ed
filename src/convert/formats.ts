import { csv } from './csv.ts'
import type { Format } from './format.ts'

/** Every format, in the order of the help. */
export const formats: readonly Format[] = [csv]

/** Systems whose exports cannot be converted, and why. */
export const refusedFormats: Readonly<Record<string, string>> = {
  plausible:
    'Plausible exports contain totals for each day, and no visitors: there is nothing that could be listed, exported or erased for a person.',
}
