import { get } from 'node:http'
import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { consoleUrl } from '../terminal.ts'

/** A service that is too busy to answer for so long is of no use to whoever asks. */
const patienceMs = 5_000

export function addHealthCommand(program: Command, { terminal, config }: CommandKit): void {
  program
    .command('health')
    .description(
      'ask the service that runs here with these settings whether it is ready, as a container does',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: true }) => {
      const { host, port } = config()
      const url = `${consoleUrl({ publicUrl: null, host, port })}/readyz`
      const status = await statusOf(url)
      if (status !== 200) throw new Error(`The service at ${url} is not ready: it answered ${status}.`)
      terminal.print(
        options.json ? JSON.stringify({ status: 'ready', url }) : `The service at ${url} is ready.`,
      )
    })
}

/** The status of the answer at a URL. Throws, in words, when none comes. */
function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new Error(`The service at ${url} does not answer: ${error.message}.`))
    // A connection of its own, so that none is left open behind a command that is done.
    const request = get(url, { agent: false, timeout: patienceMs }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0)).once('error', fail)
    })
    request.once('timeout', () => request.destroy(new Error(`nothing came within ${patienceMs / 1_000} s`)))
    request.once('error', fail)
  })
}
