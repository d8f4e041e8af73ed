import { accesslog } from './accesslog.ts'
import { csv } from './csv.ts'
import type { Format } from './format.ts'
import { matomo } from './matomo.ts'

/** Every format, in the order of the help. */
export const formats: readonly Format[] = [csv, accesslog, matomo]

/** Systems whose exports cannot be converted, and why. */
export const refusedFormats: Readonly<Record<string, string>> = {
  plausible:
    'Plausible exports contain totals for each day, and no visitors: there is nothing that could be listed, exported or erased for a person.',
}
