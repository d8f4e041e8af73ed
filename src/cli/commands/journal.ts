import { statSync } from 'node:fs'
import type { Command } from 'commander'
import type { Config } from '../../config.ts'
import type { Replayed } from '../../domain/replay.ts'
import { replayJournals } from '../../services.ts'
import type { CommandKit } from '../command-kit.ts'
import type { Terminal } from '../terminal.ts'
import { replayedInWords } from './replayed-words.ts'

export function addJournalCommand(program: Command, { terminal, withSecrets, summarise }: CommandKit): void {
  const journal = program.command('journal').description('what survives the loss of a store: replay')
  journal
    .command('replay')
    .description('do once more, in a store that was set back, what journals tell of')
    .argument('<file...>', 'the journals, in any order')
    .option(
      '--mend',
      'where the ledger and a journal hold different entries, or some are lost: put the journals\u2019 entries in their places, and the ledger\u2019s own behind them',
    )
    .option('--json', 'print one JSON object')
    .action((files: string[], { mend, json }: { mend?: true; json?: true }) =>
      withSecrets(async (services) => {
        const replayed = await replayJournals(services, files, unreadableReports(terminal), {
          mend: mend === true,
        })
        if (json) summarise(replayed)
        else for (const line of replayedInWords(replayed)) terminal.print(line)
        failOnProblems(replayed)
      }),
    )
}

/** Everything that could be done is done by then. */
export function failOnProblems({ problems }: Pick<Replayed, 'problems'>): void {
  if (problems.length > 0) throw new Error(`Not everything could be replayed. ${problems.join(' ')}`)
}

/** The journals that somebody named, which must be there, or else the one of the configuration, which comes with the first line. */
export function journalsOf(
  { tell }: Terminal,
  named: readonly string[] | undefined,
  { journal }: Pick<Config, 'journal'>,
): readonly string[] {
  const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
  const missing = named?.find((path) => !isThere(path))
  if (missing !== undefined) throw new Error(`There is no journal at ${missing}.`)
  if (named || journal === null) return named ?? []
  if (isThere(journal)) return [journal]
  tell(`There is no journal at ${journal} yet.`)
  return []
}

/** Tells of lines that are torn; that one of them is missed, a ledger with a gap would tell. */
export function unreadableReports({ tell }: Terminal): (path: string, line: number) => void {
  return (path, line) => tell(`${path}, line ${line}: torn, or no line of a journal; left out.`)
}
