import type { Command } from 'commander'
import type { Services } from '../../domain/services.ts'
import { createSample } from '../../operations/sample.ts'
import { createLog } from '../../runtime/log.ts'
import { openServices, startService } from '../../start.ts'
import { type CommandKit, secretReports } from '../command-kit.ts'
import { reachable } from '../terminal.ts'
import { untilStopped } from '../until-stopped.ts'
import { joinLink } from './members.ts'

export function addServeCommand(program: Command, { config }: CommandKit): void {
  program
    .command('serve')
    .description('run the API and the console')
    .option('--json', 'log JSON lines even on a terminal')
    .action(async (options: { json?: true }) => {
      const settings = config()
      const log = await createLog(settings, options)
      const services = await openServices(settings, {
        create: true,
        onCreated: (store) => log.logger.warn({ store }, 'created an empty store'),
        onSecretMade: (file) =>
          log.logger.info(
            { file },
            'created a secret: keep a copy of this file, separate from backups of the store',
          ),
        onLedgersAdopted: (ledgers) =>
          log.logger.warn(
            { ledgers },
            'authenticated the ledgers written by version 0.2; this happens once, after the upgrade',
          ),
      })
      if ((await services.organisations.list()).length === 0) {
        log.logger.warn('the store is empty: create an organisation with "lethe orgs create"')
      }
      await untilStopped(async () => {
        const service = await startService(settings, services, log)
        const { url, variablesUrl, metricsUrl } = service
        const others = {
          ...(variablesUrl !== null && { variablesUrl }),
          ...(metricsUrl !== null && { metricsUrl }),
        }
        log.logger.info({ url, ...others }, 'listening')
        return service
      }, log.logger)
    })
}

export function addQuickstartCommand(program: Command, { terminal, config }: CommandKit): void {
  program
    .command('quickstart')
    .description('run the service, with sample data if the store is empty (used by npm start)')
    .option('--json', 'log JSON lines even on a terminal')
    .action(async (options: { json?: true }) => {
      const settings = config()
      const log = await createLog(settings, options)
      const services = await openServices(settings, {
        create: true,
        ...secretReports(terminal),
      })
      await untilStopped(async () => {
        const service = await startService(settings, services, log)
        const url = reachable(service.url)
        const variablesUrl = service.variablesUrl === null ? url : reachable(service.variablesUrl)
        const lines = await introduce(services, url, variablesUrl, settings.publicUrl ?? url)
        for (const line of lines) terminal.tell(line)
        return service
      }, log.logger)
    })
}

/** Introduces the service: on an empty store with sample data to try, otherwise with how to create a key. */
async function introduce(
  services: Services,
  url: string,
  variablesUrl: string,
  publicUrl: string,
): Promise<string[]> {
  const [organisation] = await services.organisations.list()
  if (organisation) {
    return [
      '',
      `Lethe listens on ${url}`,
      `The console is at ${publicUrl}/console. To add a member:`,
      `  npx lethe members create --org ${shellQuoted(organisation.id)} --email somebody@example.com`,
      '',
      'A key is shown only when it is created. To create another one:',
      `  npx lethe keys create --org ${shellQuoted(organisation.id)} --name 'my key' --scope analytics:view analytics:delete-data`,
      '',
    ]
  }
  const { trackerId, subjectId, issued, variableToken, invited } = await createSample(services)
  const subjects = `${url}/v1/analytics/trackers/${trackerId}/subjects`
  const curl = `curl -H 'Authorization: Bearer ${issued.keyString}'`
  return [
    '',
    'The store was empty. It now has a sample organisation with two trackers, about 1,000 visitors, requests in every state,',
    'and this key, which can read, send and erase data and is not shown again:',
    '',
    `  ${issued.keyString}`,
    '',
    `Lethe listens on ${url}`,
    '',
    `Open the console with this one-time link, and set a password for ${invited.member.email}:`,
    '',
    `  ${joinLink(publicUrl, invited.token)}`,
    '',
    'List visitors, read one, erase it:',
    '',
    `  ${curl} '${subjects}?limit=3'`,
    `  ${curl} ${subjects}/${subjectId}`,
    `  ${curl} -X DELETE ${subjects}/${subjectId}`,
    '',
    "Read the shop's remote config:",
    '',
    `  curl '${variablesUrl}/v1/variables?token=${variableToken.tokenString}'`,
    '',
  ]
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
