import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { runCli } from '../../src/cli/run-cli.ts'
import type { Lifetime } from '../support/service.ts'

/** What ends a call, as an argument of its own. */
const endOfCall = '\u0004'

/**
 * A script that runs the program in this process, which has loaded it once for all commands of a guide. It says with which environment
 * and arguments it was called, and gets what to print as another script.
 */
export async function programHere(lifetime: Lifetime, folder: string): Promise<string> {
  const server = createServer((socket) => answer(socket, folder))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  lifetime.after(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : null
  return `exec 3<>/dev/tcp/127.0.0.1/${port}
{ env -0; printf '%s\\0' '' "$@" $'\\4'; } >&3
eval "$(cat <&3)"`
}

function answer(socket: Socket, folder: string): void {
  let call = ''
  socket.setEncoding('utf8').on('data', async (text: string) => {
    call += text
    if (call.endsWith(`\0${endOfCall}\0`)) socket.end(await run(call, folder))
  })
}

/** Runs a call in the folder of the shell, and hands back what to print of it where. */
async function run(call: string, folder: string): Promise<string> {
  const end = call.indexOf('\0\0')
  const variables = call
    .slice(0, end)
    .split('\0')
    .filter((variable) => variable.startsWith('LETHE_'))
  const env = Object.fromEntries(variables.map((variable) => variable.split(/=(.*)/s, 2)))
  const args = call
    .slice(end + 2)
    .split('\0')
    .slice(0, -2)
  const script: string[] = []
  const write = (text: string, stream: 1 | 2) => script.push(`printf %s ${quoted(text)} >&${stream}`)
  const outside = process.cwd()
  process.chdir(folder)
  try {
    const code = await runCli(args, {
      env,
      print: (line) => write(`${line}\n`, 1),
      async pour(text) {
        for await (const piece of text) write(piece, 1)
      },
      tell: (line) => write(`${line}\n`, 2),
      ask: async () => null,
      columns: () => null,
      draw() {},
    })
    return [...script, `exit ${code}`].join('\n')
  } finally {
    process.chdir(outside)
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
