import type { Command } from 'commander'
import { formatInstant } from '../../domain/instant.ts'
import { type CommandKit, waitForMaintenanceLock } from '../command-kit.ts'
import { Progress } from '../progress.ts'

const everyByte = 'no deleted data remains in any file of the store.'
const freedRoom =
  'the space of deleted data is free. PostgreSQL keeps its bytes until it reuses the space: see docs/reference/postgres.md'

export function addScrubCommand(program: Command, { terminal, withStore }: CommandKit): void {
  program
    .command('scrub')
    .description('remove every remaining byte of deleted data, as the service does at night')
    .option('--json', 'print one JSON object')
    .action((options: { json?: true }) =>
      withStore(async ({ maintenance, clock }) => {
        const startedAt = performance.now()
        await waitForMaintenanceLock(terminal, maintenance, () => {
          let share = 0
          const view = () => ({ share, done: share, facts: [`Scrubbing: ${Math.floor(share * 100)}%`] })
          const progress = new Progress(terminal, clock, { view })
          return maintenance
            .scrub(clock(), {
              onProgress(done) {
                share = done
                progress.tick()
              },
            })
            .finally(() => progress.end())
        })
        const durationMs = Math.round(performance.now() - startedAt)
        const { lastAt } = await maintenance.scrubState()
        terminal.print(
          options.json
            ? JSON.stringify({ scrubbedAt: formatInstant(lastAt), durationMs })
            : `Scrubbed in ${(durationMs / 1_000).toFixed(1)} s: ${maintenance.scrubsEveryByte ? everyByte : freedRoom}`,
        )
      }),
    )
}
