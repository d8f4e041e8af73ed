import { type Command, InvalidArgumentError } from 'commander'
import {
  identifierNameRule,
  isIdentifierName,
  maxIdentifiersPerSubject,
} from '../../domain/subject-identifier.ts'
import { type Derivation, deriveIdentifiers } from '../../operations/derive-identifiers.ts'
import type { IdentifierSource } from '../../operations/find-people.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted, Progress, workProgress } from '../progress.ts'
import { UsageError } from '../terminal.ts'
import { onStopSignal } from '../until-stopped.ts'

interface DeriveFlags {
  tracker: string
  attribute?: IdentifierSource[]
  property?: IdentifierSource[]
  dryRun?: true
  json?: true
}

const progressEveryMs = 250

export function addIdentifiersCommand(program: Command, kit: CommandKit): void {
  program
    .command('identifiers')
    .description('identifiers of people: derive')
    .command('derive')
    .description('create identifiers from stored attributes and properties')
    .requiredOption('--tracker <id>', 'the tracker')
    .option(
      '--attribute <name>',
      'a session attribute that contains an identifier, such as email, or mail=email to give the identifier another name; repeatable',
      sourceReader('session'),
    )
    .option(
      '--property <name>',
      'the same for an event property, such as user_id=userId',
      sourceReader('event'),
    )
    .option('--dry-run', 'show what would be added, but add nothing')
    .option('--json', 'print one JSON object')
    .action((flags: DeriveFlags) => {
      kit.config()
      const sources = [...(flags.attribute ?? []), ...(flags.property ?? [])]
      if (sources.length === 0) {
        throw new UsageError('Specify at least one --attribute or --property.')
      }
      return derive(kit, sources, flags)
    })
}

async function derive(kit: CommandKit, sources: IdentifierSource[], flags: DeriveFlags): Promise<void> {
  const { tracker, dryRun = false } = flags
  let soFar: Derivation = { subjects: 0, added: 0, renewed: 0, refused: 0, unusable: 0 }
  await kit.withStore(async (services) => {
    let share: number | null = null
    const view = workProgress(() => ({ unit: 'subjects', count: soFar.subjects, share }))
    const progress = new Progress(kit.terminal, services.clock, { view })
    const ticking = setInterval(() => progress.tick(), progressEveryMs)
    const stopping = new AbortController()
    const signals = onStopSignal({
      onFirst: (signal) => stopping.abort(new Error(`Stopped by ${signal}. Run it again to complete it.`)),
    })
    try {
      soFar = await deriveIdentifiers(services, tracker, {
        sources,
        dryRun,
        signal: stopping.signal,
        onProgress(derived, done) {
          soFar = derived
          share = done
          if (flags.json) kit.summarise(toJson(flags, soFar))
        },
      })
    } finally {
      signals.release()
      clearInterval(ticking)
      progress.end()
    }
  })
  if (flags.json) kit.summarise(toJson(flags, soFar))
  else kit.terminal.print(inWords(soFar, dryRun))
  if (soFar.refused > 0) kit.terminal.tell(refusedInWords(soFar.refused))
  if (soFar.unusable > 0) kit.terminal.tell(unusableInWords(soFar.unusable))
}

/** Parses `email`, or `mail=email` if the identifier's name differs from the field's, and appends it. */
function sourceReader(kind: IdentifierSource['kind']) {
  return (text: string, before: IdentifierSource[] = []): IdentifierSource[] => {
    const equals = text.lastIndexOf('=')
    const [field, name] = equals < 0 ? [text, text] : [text.slice(0, equals), text.slice(equals + 1)]
    if (field === '') throw new InvalidArgumentError('Expected a name, or name=identifier.')
    if (!isIdentifierName(name)) {
      throw new InvalidArgumentError(
        `"${name}" is not a valid name for an identifier. A name is ${identifierNameRule}. Use another one with ${field}=name.`,
      )
    }
    return [...before, { kind, field, name }]
  }
}

function toJson({ tracker, dryRun }: DeriveFlags, derived: Derivation) {
  return { trackerId: tracker, ...derived, dryRun: dryRun === true }
}

function inWords({ subjects, added, renewed }: Derivation, dryRun: boolean): string {
  const looked = `Checked ${counted(subjects, 'subject')}`
  const what = `${counted(added, 'identifier')}, renewed ${renewed}`
  return dryRun ? `${looked}; would add ${what}. Nothing was changed.` : `${looked}; added ${what}.`
}

function refusedInWords(refused: number): string {
  return `Skipped ${counted(refused, 'identifier')}: a data subject has at most ${maxIdentifiersPerSubject} identifiers.`
}

function unusableInWords(unusable: number): string {
  return `Skipped ${counted(unusable, 'value')}: an identifier is text or a number with 1 to 256 characters and no control characters.`
}
