import { statSync } from 'node:fs'
import type { Command } from 'commander'
import type { Config } from '../../config.ts'
import type { Replayed, ReplayedInSetBack } from '../../domain/replay.ts'
import { replayJournals } from '../../runtime/restore.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted } from '../progress.ts'
import type { Terminal } from '../terminal.ts'

export function addJournalCommand(program: Command, { terminal, withSecrets, summarise }: CommandKit): void {
  const journal = program
    .command('journal')
    .description('changes that must survive the loss of a store: replay')
  journal
    .command('replay')
    .description('repeat erasures and revocations from journals in a store that was set back')
    .argument('<file...>', 'the journals, in any order')
    .option(
      '--mend',
      'if the ledger and a journal have different entries, or entries are lost: restore the entries of the journals, followed by those of the ledger',
    )
    .option('--json', 'print one JSON object')
    .action((files: string[], { mend, json }: { mend?: true; json?: true }) =>
      withSecrets(async (services) => {
        requireJournals(files)
        const replayed = await replayJournals(services, files, unreadableReports(terminal), {
          mend: mend === true,
        })
        if (json) summarise(replayed)
        else for (const line of replayedInWords(replayed)) terminal.print(line)
        failOnProblems(replayed)
      }),
    )
}

/** Reports what could not be replayed, after everything else has been. */
export function failOnProblems({ problems }: Pick<Replayed, 'problems'>): void {
  if (problems.length > 0) throw new Error(`Not everything could be replayed. ${problems.join(' ')}`)
}

/** The journals given as options, which must exist, or else the configured one, which may not exist yet. */
export function journalsOf(
  { tell }: Terminal,
  named: readonly string[] | undefined,
  { journal }: Pick<Config, 'journal'>,
): readonly string[] {
  if (named) requireJournals(named)
  if (named || journal === null) return named ?? []
  const state = stateOf(journal)
  if (state === 'there') return [journal]
  tell(state === 'empty' ? `The journal ${journal} is empty.` : `There is no journal at ${journal} yet.`)
  return []
}

function requireJournals(named: readonly string[]): void {
  for (const path of named) {
    const state = stateOf(path)
    if (state === 'missing') throw new Error(`There is no journal at ${path}.`)
    if (state === 'empty') throw new Error(`The journal ${path} is empty.`)
  }
}

/** The size of a pipe is not known. */
function stateOf(path: string): 'missing' | 'empty' | 'there' {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return 'missing'
  return found.isFile() && found.size === 0 ? 'empty' : 'there'
}

/** Reports torn lines. If a line is missed, the ledger has a gap. */
export function unreadableReports({ tell }: Terminal): (path: string, line: number) => void {
  return (path, line) =>
    tell(`${path}, line ${line}: skipped, because it is torn or not a line of a journal.`)
}

export function replayedInWords({
  entries,
  tombstones,
  movedEntries,
  revokedKeys,
  rotatedKeys,
  revokedTokens,
  rotatedTokens,
  closedRequests,
  removed,
  entriesOfOthers,
  stoppedErasures = 0,
  endedSignIns = 0,
  withdrawnLinks = 0,
  removedRecoveryCodes = 0,
}: Replayed & Partial<ReplayedInSetBack>): string[] {
  const lines = [
    `Appended ${counted(entries, 'ledger entry', 'ledger entries')} and ${counted(tombstones, 'tombstone')}; revoked ${counted(revokedKeys, 'key')}, rotated ${rotatedKeys}.`,
    `Removed ${counted(removed.subjects, 'erased subject')} with ${counted(removed.sessions, 'session')} and ${counted(removed.events, 'event')}.`,
  ]
  if (revokedTokens + rotatedTokens > 0) {
    lines.push(`Revoked ${counted(revokedTokens, 'variable token')}, rotated ${rotatedTokens}.`)
  }
  if (closedRequests > 0) {
    lines.push(`Closed ${counted(closedRequests, 'privacy request')}.`)
  }
  if (movedEntries > 0) {
    lines.push(
      `Moved ${counted(movedEntries, 'ledger entry', 'ledger entries')} after those of the journal. Receipts issued for them since the store was set back are no longer valid: get new ones.`,
    )
  }
  if (stoppedErasures > 0) {
    lines.push(
      `Stopped the erasures of ${counted(stoppedErasures, 'request')}, because they may have been cancelled since the backup was made. Start them again if the people are still to be erased.`,
    )
  }
  if (endedSignIns + withdrawnLinks > 0) {
    lines.push(
      `Ended ${counted(endedSignIns, 'sign-in')} and withdrew ${counted(withdrawnLinks, 'link')} to set a password that the restored data contained.`,
    )
  }
  if (removedRecoveryCodes > 0) {
    lines.push(
      `Removed ${counted(removedRecoveryCodes, 'recovery code')}, because they may have been used since the backup was made. Members can make new ones on "Your account".`,
    )
  }
  if (entriesOfOthers > 0) {
    lines.push(
      `Skipped ${counted(entriesOfOthers, 'entry', 'entries')} of organisations that this store does not have.`,
    )
  }
  return lines
}
