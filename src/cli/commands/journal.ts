import { statSync } from 'node:fs'
import type { Command } from 'commander'
import type { Config } from '../../config.ts'
import type { Replayed, ReplayedInSetBack } from '../../domain/replay.ts'
import { replayJournals } from '../../runtime/restore.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted } from '../progress.ts'
import type { Terminal } from '../terminal.ts'

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

/** What a replay did, in lines for people. */
export function replayedInWords({
  entries,
  tombstones,
  movedEntries,
  revokedKeys,
  rotatedKeys,
  removed,
  entriesOfOthers,
  stoppedBatches = 0,
  endedSignIns = 0,
  withdrawnLinks = 0,
}: Replayed & Partial<ReplayedInSetBack>): string[] {
  const lines = [
    `Appended ${counted(entries, 'entry', 'entries')} of ledgers and ${counted(tombstones, 'tombstone')}; revoked ${counted(revokedKeys, 'key')}, rotated ${rotatedKeys}.`,
    `Removed ${counted(removed.subjects, 'erased subject')} with ${counted(removed.sessions, 'session')} and ${counted(removed.events, 'event')}.`,
  ]
  if (movedEntries > 0) {
    lines.push(
      `Moved ${counted(movedEntries, 'entry', 'entries')} of ledgers behind those of the journal. Receipts issued for them since the store was set back no longer match: get new ones.`,
    )
  }
  if (stoppedBatches > 0) {
    lines.push(
      `Stopped ${counted(stoppedBatches, 'batch', 'batches')} of erasures that ran when the store was copied.`,
    )
  }
  if (endedSignIns + withdrawnLinks > 0) {
    lines.push(
      `Ended ${counted(endedSignIns, 'sign-in')} and withdrew ${counted(withdrawnLinks, 'link')} to set a password that the copy brought back.`,
    )
  }
  if (entriesOfOthers > 0) {
    lines.push(
      `Left out ${counted(entriesOfOthers, 'entry', 'entries')} of organisations that this store does not have.`,
    )
  }
  return lines
}
