import type { PrivacyRequest, Requests } from '@lethe/client'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { requestArgument } from './requests-read.ts'
import { requestHint, withClient } from './with-client.ts'

interface ChangeFlags {
  /** Required by the commands that use it. */
  reason: string
  json?: true
}

type Change = (requests: Requests, id: string, flags: ChangeFlags) => Promise<PrivacyRequest>

export function addRequestsExtend(requests: Command, kit: CommandKit): void {
  const command = requests
    .command('extend')
    .description('postpone the date when a request is due by two months, once')
    .requiredOption('--reason <text>', 'why; tell it to the person as well')
  addChange(
    command,
    kit,
    (requests, id, { reason }) => requests.extend(id, { reason }),
    ({ requestId, dueAt }) => `Extended ${requestId}. It is now due ${dueAt}.`,
  )
}

export function addRequestsReject(requests: Command, kit: CommandKit): void {
  const command = requests
    .command('reject')
    .description('close a request that is refused')
    .requiredOption('--reason <text>', 'why; tell it to the person as well')
  addChange(
    command,
    kit,
    (requests, id, { reason }) => requests.reject(id, { reason }),
    ({ requestId }) => `Rejected ${requestId}. ${forgotten}`,
  )
}

export function addRequestsCancel(requests: Command, kit: CommandKit): void {
  const command = requests
    .command('cancel')
    .description('close a request that is no longer wanted; what is erased stays erased')
  addChange(
    command,
    kit,
    (requests, id) => requests.cancel(id),
    ({ requestId }) => `Cancelled ${requestId}. ${forgotten}`,
  )
}

export function addRequestsClose(requests: Command, kit: CommandKit): void {
  const command = requests.command('close').description('close an access request that was answered')
  addChange(
    command,
    kit,
    (requests, id) => requests.close(id),
    ({ requestId }) => `Closed ${requestId}. ${forgotten}`,
  )
}

const forgotten = 'The service no longer knows whom it was about.'

function addChange(
  command: Command,
  { terminal, config }: CommandKit,
  change: Change,
  inWords: (request: PrivacyRequest) => string,
): void {
  command
    .addArgument(requestArgument())
    .option('--json', 'print one JSON object')
    .action((id: string, flags: ChangeFlags) =>
      withClient(
        config(),
        terminal,
        async (client) => {
          const request = await change(client.requests, id, flags)
          terminal.print(flags.json ? JSON.stringify(request) : inWords(request))
        },
        requestHint,
      ),
    )
}
