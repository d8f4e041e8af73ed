import { type Command, InvalidArgumentError } from 'commander'
import { identifierNameRule, isIdentifierName } from '../../domain/subject-identifier.ts'
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
    .description('what people are known by')
    .command('derive')
    .description('make identifiers out of the attributes and properties that are stored already')
    .requiredOption('--tracker <id>', 'the tracker')
    .option(
      '--attribute <name>',
      'an attribute of sessions that holds one, such as email, or mail=email for another name; several with one each',
      sourceReader('session'),
    )
    .option(
      '--property <name>',
      'the same of the properties of events, such as user_id=userId',
      sourceReader('event'),
    )
    .option('--dry-run', 'say what would be added, and add nothing')
    .option('--json', 'print one JSON object')
    .action((flags: DeriveFlags) => {
      kit.config()
      const sources = [...(flags.attribute ?? []), ...(flags.property ?? [])]
      if (sources.length === 0) {
        throw new UsageError('Say where identifiers are: --attribute or --property is missing.')
      }
      return derive(kit, sources, flags)
    })
}

async function derive(kit: CommandKit, sources: IdentifierSource[], flags: DeriveFlags): Promise<void> {
  const { tracker, dryRun = false } = flags
  let soFar: Derivation = { subjects: 0, added: 0, renewed: 0, unusable: 0 }
  await kit.withStore(async (services) => {
    let share: number | null = null
    const view = workProgress(() => ({ unit: 'subjects', count: soFar.subjects, share }))
    const progress = new Progress(kit.terminal, services.clock, { view })
    const ticking = setInterval(() => progress.tick(), progressEveryMs)
    const stopping = new AbortController()
    const signals = onStopSignal({
      onFirst: (signal) => stopping.abort(new Error(`Stopped by ${signal}. Running it again completes it.`)),
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
  if (soFar.unusable > 0) kit.terminal.tell(unusableInWords(soFar.unusable))
}

/** Reads `email`, or `mail=email` where the identifier has another name than its field, one after the other. */
function sourceReader(kind: IdentifierSource['kind']) {
  return (text: string, before: IdentifierSource[] = []): IdentifierSource[] => {
    const equals = text.lastIndexOf('=')
    const [field, name] = equals < 0 ? [text, text] : [text.slice(0, equals), text.slice(equals + 1)]
    if (field === '') throw new InvalidArgumentError('It takes a name, or name=identifier.')
    if (!isIdentifierName(name)) {
      throw new InvalidArgumentError(
        `"${name}" cannot name an identifier, which takes ${identifierNameRule}. Give it another name: ${field}=name.`,
      )
    }
    return [...before, { kind, field, name }]
  }
}

function toJson({ tracker, dryRun }: DeriveFlags, derived: Derivation) {
  return { trackerId: tracker, ...derived, dryRun: dryRun === true }
}

function inWords({ subjects, added, renewed }: Derivation, dryRun: boolean): string {
  const looked = `Looked at ${counted(subjects, 'subject')}`
  const what = `${counted(added, 'identifier')}, renewed ${renewed}`
  return dryRun ? `${looked}; would have added ${what}. Nothing was changed.` : `${looked}; added ${what}.`
}

function unusableInWords(unusable: number): string {
  return `${counted(unusable, 'value')} cannot be an identifier: it takes text or a number, of 1 to 256 characters and no control characters.`
}
