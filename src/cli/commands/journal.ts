import type { Command } from 'commander'
import { replayJournals } from '../../services.ts'
import type { CommandKit } from '../command-kit.ts'
import type { Terminal } from '../terminal.ts'
import { replayedInWords } from './replayed-words.ts'

export function addJournalCommand(program: Command, { terminal, withSecrets }: CommandKit): void {
  const journal = program.command('journal').description('what survives the loss of a store: replay')
  journal
    .command('replay')
    .description('do once more, in a store that was set back, what journals tell of')
    .argument('<file...>', 'the journals, in any order')
    .option('--json', 'print one JSON object')
    .action((files: string[], options: { json?: true }) =>
      withSecrets(async (services) => {
        const replayed = await replayJournals(services, files, unreadableReports(terminal))
        if (options.json) terminal.print(JSON.stringify(replayed))
        else for (const line of replayedInWords(replayed)) terminal.print(line)
      }),
    )
}

/** Tells of lines that are torn; that one of them is missed, a ledger with a gap would tell. */
export function unreadableReports({ tell }: Terminal): (path: string, line: number) => void {
  return (path, line) => tell(`${path}, line ${line}: torn, or no line of a journal; left out.`)
}
