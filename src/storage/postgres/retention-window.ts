import type { Instant } from '../../domain/instant.ts'
import type { RetentionStore, SweepStep, WindowSettling } from '../../domain/retention.ts'
import type { WindowKind } from '../../domain/retention-window.ts'
import { sweptBefore } from '../rows/retention-window.ts'
import type { Row } from '../rows/row.ts'
import { rememberedWindows, settleWindows, windowColumns, windowValues } from '../settle-windows.ts'
import type { Connections } from './connections.ts'
import { takeTurn } from './hold-owner.ts'
import { type Statement, statement, type Value } from './statement.ts'
import type { Run } from './transact.ts'

/** Held by whoever changes a plan or a remembered window, alone; and by those who delete by them, together. */
const windowsLock = 1_279_611_754

const lockWindows = statement(`SELECT pg_advisory_xact_lock(${windowsLock})`)
const shareWindows = statement(`SELECT pg_advisory_xact_lock_shared(${windowsLock})`)

const all = statement(rememberedWindows)
const ofOne = statement(`${rememberedWindows} WHERE o.id = $1`)
const remember = statement(
  `INSERT INTO retention_windows (${windowColumns.join(', ')}) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (organisation_id, kind) DO UPDATE SET
     days = excluded.days, shorter_days = excluded.shorter_days, shorter_since = excluded.shorter_since`,
)
const ofSwept: Record<WindowKind, Statement> = {
  visitors: statement(
    `${rememberedWindows} AND w.kind = 'visitors' JOIN trackers t ON t.organisation_id = o.id WHERE t.id = $1`,
  ),
  activity: statement(`${rememberedWindows} AND w.kind = 'activity' WHERE o.id = $1`),
}

export function retentionWindowStore(connections: Connections): Pick<RetentionStore, 'settleWindows'> {
  return {
    async settleWindows(settling) {
      const settled = settleWindows(await connections.read(...asked(settling)), settling)
      if (settled.changed.length === 0) return settled.windows
      return connections.transaction(async (run) => {
        await holdWindows(run)
        takeTurn(run)
        const { windows, changed } = settleWindows((await run(...asked(settling))).rows, settling)
        for (const window of changed) run(remember, windowValues(window))
        return windows
      })
    },
  }
}

function asked({ organisationId }: WindowSettling): [Statement, readonly Value[]] {
  return organisationId === undefined ? [all, []] : [ofOne, [organisationId]]
}

/** Waits for the steps that delete by plans and windows as they are, and keeps others waiting until the transaction ends. */
export async function holdWindows(run: Run): Promise<void> {
  await run(lockWindows)
}

/** Before which instant a step may delete of a tracker, or of an organisation's activity; `null` when that is not there. */
export async function findSweptBefore(
  connections: Connections,
  kind: WindowKind,
  id: string,
  step: SweepStep,
): Promise<Instant | null> {
  return toInstant(await connections.read(ofSwept[kind], [id]), kind, step)
}

/** The same within the transaction of the step: until its end, neither the plan nor the window changes. */
export async function readSweptBefore(
  run: Run,
  kind: WindowKind,
  id: string,
  step: SweepStep,
): Promise<Instant | null> {
  await run(shareWindows)
  return toInstant((await run(ofSwept[kind], [id])).rows, kind, step)
}

function toInstant([row]: readonly Row[], kind: WindowKind, step: SweepStep): Instant | null {
  return row ? sweptBefore(row, kind, step) : null
}
