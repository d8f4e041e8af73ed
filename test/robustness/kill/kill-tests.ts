import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { programPath } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { killErasures } from './kill-erasure.ts'
import { killImports } from './kill-import.ts'
import { killLists } from './kill-list.ts'
import { killMixedWork } from './kill-mixed.ts'
import { killRequests, type RequestPlan } from './kill-requests.ts'
import { killScrubs } from './kill-scrub.ts'
import { killSweeps } from './kill-sweep.ts'
import type { MakeKillable } from './killable-store.ts'
import { type Plan, Tally } from './killing.ts'

interface Plans {
  /** By themselves, as the two below; mixed work has one of each as well. */
  imports?: Plan
  erasures?: Plan
  sweeps?: Plan
  /** Each row a request. */
  requests: readonly RequestPlan[]
  /** Each row a person. */
  lists: Plan
  mixed: Plan
  /** Where the store is embedded. */
  scrubs?: Plan
}

/**
 * Kills processes at work on a store, and looks at what they leave behind and how the next one gets on with it. A kill proves
 * something only if it comes in time: `minInTime` is the share that must.
 */
export function killTests(
  engine: string,
  makeStore: MakeKillable,
  plans: Plans & { minInTime: number },
): void {
  // There are many processes to start, and they start in half the time with what one before them has compiled.
  if (!process.env.NODE_COMPILE_CACHE) {
    process.env.NODE_COMPILE_CACHE = temporaryFolder({ after })
    before(() => execFileSync(process.execPath, [programPath, '--version']))
  }
  describe(`killed at any moment, on ${engine},`, () => {
    const total = new Tally()
    if (plans.imports) killImports(makeStore, plans.imports, total)
    if (plans.erasures) killErasures(makeStore, plans.erasures, total)
    for (const plan of plans.requests) killRequests(makeStore, plan, total)
    killLists(makeStore, plans.lists, total)
    if (plans.sweeps) killSweeps(makeStore, plans.sweeps, total)
    if (plans.scrubs) killScrubs(plans.scrubs, total)
    killMixedWork(makeStore, plans.mixed, total)

    it('processes were at work when they were killed', (t) => {
      t.diagnostic(`in all ${total}`)
      assert.ok(total.inTime >= total.kills * plans.minInTime)
    })
  })
}
