import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { consoleUrl } from '../terminal.ts'

const timeoutMs = 5_000

/** An `import` of node:http would also load Node's web APIs, a sixth of what this command costs. */
const { get } = process.getBuiltinModule('node:http')

export function addHealthCommand(program: Command, { terminal, config }: CommandKit): void {
  program
    .command('health')
    .description('check whether the local service is ready, as a container does')
    .option('--json', 'print one JSON object')
    .action(async (options: { json?: true }) => {
      const { host, port } = config()
      const url = `${consoleUrl({ publicUrl: null, host, port })}/readyz`
      const status = await statusOf(url)
      if (status !== 200) throw new Error(`The service at ${url} is not ready: it responded with ${status}.`)
      terminal.print(
        options.json ? JSON.stringify({ status: 'ready', url }) : `The service at ${url} is ready.`,
      )
    })
}

/** The status of the response from a URL. */
function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new Error(`The service at ${url} does not respond: ${error.message}.`))
    // Without an agent, no connection stays open when the command has finished.
    const request = get(url, { agent: false, timeout: timeoutMs }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0)).once('error', fail)
    })
    request.once('timeout', () => request.destroy(new Error(`no response within ${timeoutMs / 1_000} s`)))
    request.once('error', fail)
  })
}
