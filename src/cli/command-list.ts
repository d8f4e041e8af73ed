import type { Command } from 'commander'
import type { CommandKit } from './command-kit.ts'

type AddCommand = (program: Command, kit: CommandKit) => void

/** Every command by its first word, in the order of the help. Each is loaded on demand, for a fast start. */
const loaders: Record<string, () => Promise<AddCommand>> = {
  serve: async () => (await import('./commands/serve.ts')).addServeCommand,
  quickstart: async () => (await import('./commands/serve.ts')).addQuickstartCommand,
  init: async () => (await import('./commands/migrate.ts')).addInitCommand,
  orgs: async () => (await import('./commands/orgs.ts')).addOrgsCommand,
  trackers: async () => (await import('./commands/trackers.ts')).addTrackersCommand,
  keys: async () => (await import('./commands/keys.ts')).addKeysCommand,
  variables: async () => (await import('./commands/variables.ts')).addVariablesCommand,
  'variable-tokens': async () => (await import('./commands/variable-tokens.ts')).addVariableTokensCommand,
  members: async () => (await import('./commands/members.ts')).addMembersCommand,
  activity: async () => (await import('./commands/activity.ts')).addActivityCommand,
  import: async () => (await import('./commands/import.ts')).addImportCommand,
  convert: async () => (await import('./commands/convert.ts')).addConvertCommand,
  identifiers: async () => (await import('./commands/identifiers.ts')).addIdentifiersCommand,
  subjects: async () => (await import('./remote/subjects.ts')).addSubjectsCommand,
  requests: async () => (await import('./remote/requests.ts')).addRequestsCommand,
  ship: async () => (await import('./remote/ship.ts')).addShipCommand,
  receipts: async () => (await import('./remote/receipts.ts')).addReceiptsCommand,
  ledger: async () => (await import('./commands/ledger.ts')).addLedgerCommand,
  secret: async () => (await import('./commands/secret.ts')).addSecretCommand,
  sweep: async () => (await import('./commands/sweep.ts')).addSweepCommand,
  scrub: async () => (await import('./commands/scrub.ts')).addScrubCommand,
  backup: async () => (await import('./commands/backup.ts')).addBackupCommand,
  restore: async () => (await import('./commands/backup.ts')).addRestoreCommand,
  journal: async () => (await import('./commands/journal.ts')).addJournalCommand,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
  copy: async () => (await import('./commands/copy.ts')).addCopyCommand,
  status: async () => (await import('./commands/status.ts')).addStatusCommand,
  health: async () => (await import('./commands/health.ts')).addHealthCommand,
  config: async () => (await import('./commands/config.ts')).addConfigCommand,
}

/** Adds the command named `firstWord`, or all commands if there is none of that name. */
export async function addCommands(program: Command, kit: CommandKit, firstWord = ''): Promise<void> {
  const named = Object.hasOwn(loaders, firstWord) ? loaders[firstWord] : undefined
  const loading = (named ? [named] : Object.values(loaders)).map((load) => load())
  for (const addCommand of await Promise.all(loading)) addCommand(program, kit)
  if (named) return
  // The completion script covers all other commands.
  const { addCompletionCommand } = await import('./commands/completion.ts')
  addCompletionCommand(program, kit)
}
