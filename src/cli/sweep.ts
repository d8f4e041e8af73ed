import type { Command } from 'commander'
import { sweepAged } from '../operations/sweep-aged.ts'
import type { CommandKit } from './command-kit.ts'
import { whenAlone } from './when-alone.ts'

export function addSweepCommand(program: Command, { terminal, withStore }: CommandKit): void {
  program
    .command('sweep')
    .description('delete what has aged out now, as the service does every minute')
    .option('--json', 'print what was deleted as one JSON object')
    .action((options: { json?: true }) =>
      withStore(async (workplace) => {
        const swept = await whenAlone(terminal, workplace.upkeep, async () => {
          const begunAt = workplace.clock()
          const total = await sweepAged(workplace, {
            onProgress({ sessions, events }) {
              if (terminal.columns() === null) return
              terminal.draw(`Sweeping: ${events} events and ${sessions} sessions so far`)
            },
          })
          await workplace.upkeep.noteSweep(begunAt)
          return total
        })
        const { subjects, sessions, events } = swept
        terminal.print(
          options.json
            ? JSON.stringify(swept)
            : `Deleted ${events} events, ${sessions} sessions and ${subjects} subjects of which nothing is left.`,
        )
      }),
    )
}
