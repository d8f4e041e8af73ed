import type { Command } from 'commander'
import { createLog } from '../../logger.ts'
import { openServices } from '../../services.ts'
import type { CommandKit } from '../command-kit.ts'
import { untilStopped } from '../until-stopped.ts'

export function addServeCommand(program: Command, { config }: CommandKit): void {
  program
    .command('serve')
    .description('run the API on the configured store')
    .option('--json', 'log JSON lines even on a terminal')
    .action(async (options: { json?: true }) => {
      const settings = config()
      const log = await createLog(settings, options)
      const services = await openServices(settings, {
        create: true,
        onCreated: (store) => log.logger.warn({ store }, 'made a new, empty store'),
        onSecretMade: (file) =>
          log.logger.info(
            { file },
            'made a new secret: keep a copy of this file, apart from backups of the store',
          ),
        onLedgersAdopted: (ledgers) =>
          log.logger.warn(
            { ledgers },
            'authenticated the ledgers that version 0.2 wrote; this happens once, after the upgrade',
          ),
      })
      if ((await services.organisations.list()).length === 0) {
        log.logger.warn('the store is empty: create an organisation with "lethe orgs create"')
      }
      await untilStopped(async () => {
        const { startService } = await import('../../start.ts')
        const service = await startService(settings, services, log)
        const { url, metricsUrl } = service
        log.logger.info({ url, ...(metricsUrl !== null && { metricsUrl }) }, 'listening')
        return service
      }, log.logger)
    })
}
