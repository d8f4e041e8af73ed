import { accesslog } from './accesslog.ts'
import { csv } from './csv.ts'
import type { Format } from './format.ts'
import { ga4 } from './ga4.ts'
import { matomo } from './matomo.ts'
import { posthog } from './posthog.ts'
import { rudderstack } from './rudderstack.ts'
import { segment } from './segment.ts'
import { snowplow } from './snowplow.ts'
import { umami } from './umami.ts'

/** Every format, in the order of the help. */
export const formats: readonly Format[] = [
  ...[csv, accesslog, matomo, umami],
  ...[posthog, ga4, segment, rudderstack, snowplow],
]

/** Systems whose exports cannot be converted, and why. */
export const refusedFormats: Readonly<Record<string, string>> = {
  plausible:
    'Plausible exports contain totals for each day, and no visitors: there is nothing that could be listed, exported or erased for a person.',
}
