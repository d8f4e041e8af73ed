import { readFileSync } from 'node:fs'
import { verifyReceipt } from '@lethe/client'
import type { Command } from 'commander'
import { formatInstant } from '../../domain/instant.ts'
import type { KnownChanges } from '../../domain/journal.ts'
import type { Services } from '../../domain/services.ts'
import { findOlderData, type OlderData } from '../../operations/erasure.ts'
import { type OpenedCheckpoint, openCheckpoint } from '../../operations/ledger.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { type LedgerVerification, verifyLedger } from '../../operations/verify-ledger.ts'
import { readJournals } from '../../runtime/restore.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted, grouped, legible, Progress, type ProgressState, workProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'
import { journalsOf, unreadableReports } from './journal.ts'

interface VerifyFlags {
  org?: string
  journal?: string[]
  checkpoint?: string[]
  receipt?: string[]
  json?: true
}

/** The result for one organisation. */
interface Findings extends LedgerVerification {
  organisationId: string
  /** `null` if the ledger has a problem. */
  checkpoint: string | null
  /** The number of subjects with data older than their tombstones, and the first of them. */
  olderCount: number
  older: OlderData[]
}

/** More subjects are counted, but not listed. */
const maxNamed = 100

export function addLedgerCommand(program: Command, kit: CommandKit): void {
  program
    .command('ledger')
    .description('the ledger of erasures')
    .command('verify')
    .description(
      'verify the ledger against its entries, tombstones, journals and saved checkpoints, and search for data of erased people',
    )
    .option('--org <id>', 'the organisation (default: all)')
    .option('--journal <file...>', 'journals to compare with (default: the configured one)')
    .option('--checkpoint <file...>', 'saved checkpoints from which the ledger must have grown')
    .option('--receipt <file...>', 'saved receipts whose entries the ledger must contain')
    .option('--json', 'print one JSON object')
    .action((flags: VerifyFlags) =>
      kit.withSecrets(async (services) => {
        const ids = await organisationsOf(services, flags.org)
        const kept = await readKept(services, ids, flags)
        const paths = journalsOf(kit.terminal, flags.journal, kit.config())
        const findings = await withProgress(kit.terminal, services, async (progress) => {
          const known = await readJournals(paths, unreadableReports(kit.terminal), (count) =>
            progress('journal: lines', count),
          )
          return verifyAll(services, ids, { kept, known }, progress)
        })
        const problems = findings.filter(({ problem, olderCount }) => problem !== null || olderCount > 0)
        if (flags.json) kit.summarise({ isSound: problems.length === 0, ledgers: findings.map(toJson) })
        else for (const line of findings.flatMap(inWords)) kit.terminal.print(line)
        if (problems.length > 0) throw new Error(`Verification failed: ${summaryOf(problems)}.`)
      }),
    )
}

async function organisationsOf(services: Services, id: string | undefined): Promise<string[]> {
  if (id !== undefined) return [(await requireOrganisation(services, id)).id]
  return (await services.organisations.list()).map((organisation) => organisation.id)
}

/** The heads of saved checkpoints and receipts. A receipt must also prove its entry. */
async function readKept(
  { keyring }: Services,
  ids: readonly string[],
  { checkpoint = [], receipt = [] }: VerifyFlags,
): Promise<OpenedCheckpoint[]> {
  const kept: OpenedCheckpoint[] = []
  for (const file of [...checkpoint, ...receipt]) {
    try {
      const text = readFileSync(file, 'utf8')
      const opened = openCheckpoint(keyring, ids, text)
      if (receipt.includes(file)) {
        const signers = keyring.signersOf(opened.organisationId)
        await verifyReceipt(text, { verifierKeys: signers.map(({ verifierKey }) => verifierKey) })
      }
      kept.push(opened)
    } catch (error) {
      const reason = error instanceof Error ? error.message : error
      throw new Error(`${file} cannot be compared with a ledger: ${reason}`)
    }
  }
  return kept
}

async function verifyAll(
  services: Services,
  ids: readonly string[],
  { kept, known }: { kept: readonly OpenedCheckpoint[]; known: KnownChanges },
  progress: (step: string, count: number) => void,
): Promise<Findings[]> {
  const all: Findings[] = []
  for (const organisationId of ids) {
    const own = kept.filter((each) => each.organisationId === organisationId)
    const verification = await verifyLedger(services, organisationId, {
      heads: own.map(({ head }) => head),
      journal: known.ledgers.get(organisationId),
      onEntries: (count) => progress(`${organisationId}: entries`, count),
    })
    const { head, problem } = verification
    const checkpoint = problem === null ? services.keyring.signCheckpoint(organisationId, head) : null
    const findings: Findings = { organisationId, ...verification, checkpoint, olderCount: 0, older: [] }
    const onSubjects = (count: number) => progress(`${organisationId}: subjects`, count)
    for await (const each of findOlderData(services, organisationId, onSubjects)) {
      findings.olderCount += 1
      if (findings.older.length < maxNamed) findings.older.push(each)
    }
    all.push(findings)
  }
  return all
}

async function withProgress<Result>(
  terminal: Terminal,
  { clock }: Services,
  work: (progress: (step: string, count: number) => void) => Promise<Result>,
): Promise<Result> {
  const state: ProgressState = { unit: 'rows', count: 0, share: null }
  const progress = new Progress(terminal, clock, { view: workProgress(() => state) })
  try {
    return await work((step, count) => {
      state.count = state.step === step ? state.count + count : count
      state.step = step
      progress.tick()
    })
  } finally {
    progress.end()
  }
}

function inWords({ organisationId, head, problem, olderCount, older }: Findings): string[] {
  const tree =
    problem === null
      ? `${organisationId}: the tree is intact, with ${counted(head.size, 'entry', 'entries')}.`
      : `${organisationId}: ${problem}`
  if (olderCount === 0) return [tree, `${organisationId}: no stored data is older than its tombstone.`]
  const named = older.map(
    ({ trackerId, subjectId, refusedUntil, counts }) =>
      `  ${legible(trackerId)} ${legible(subjectId)}: ${counted(counts.sessions, 'session')} and ${counted(counts.events, 'event')} from before ${formatInstant(refusedUntil)}`,
  )
  const more = olderCount > older.length ? [`  and ${grouped(olderCount - older.length)} more`] : []
  return [
    tree,
    `${organisationId}: ${olderCount === 1 ? '1 subject has data older than its tombstone; erase it again:' : `${grouped(olderCount)} subjects have data older than their tombstones; erase them again:`}`,
    ...named,
    ...more,
  ]
}

function summaryOf(problems: readonly Findings[]): string {
  const broken = problems.filter(({ problem }) => problem !== null).length
  const older = problems.reduce((sum, { olderCount }) => sum + olderCount, 0)
  const parts = []
  if (broken > 0) parts.push(`${broken} ${broken === 1 ? 'ledger is' : 'ledgers are'} damaged`)
  if (older > 0) parts.push(`${older} erased ${older === 1 ? 'subject has' : 'subjects have'} data again`)
  return parts.join(', ')
}

function toJson({ organisationId, head, problem, checkpoint, olderCount, older }: Findings) {
  return {
    orgId: organisationId,
    size: head.size,
    rootHash: Buffer.from(head.rootHash).toString('base64'),
    checkpoint,
    problem,
    olderCount,
    older: older.map(({ counts, refusedUntil, ...subject }) => ({
      ...subject,
      refusedUntil: formatInstant(refusedUntil),
      ...counts,
    })),
  }
}
