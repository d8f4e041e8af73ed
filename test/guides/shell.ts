import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { runCli } from '../../src/cli/run-cli.ts'
import { programPath } from '../support/command-line.ts'
import { listen } from '../support/listen.ts'
import type { Lifetime } from '../support/service.ts'

const endOfOutput = '\u0004 that was all\n'
/** A command that takes longer hangs, even on a slow machine. */
const timeoutMs = 120_000

/** A shell that runs commands one after another, like a reader of the guide. */
export interface Shell {
  /** Returns the output of a command on both streams. */
  run(command: string): Promise<string>
}

/**
 * The command that wraps the shell, if any, and the script for the program, by default a separate process.
 */
interface ShellOptions {
  within?: readonly string[]
  program?: string
}

/** A script that runs the program in a separate process. */
const programAlone = `exec '${process.execPath}' '${programPath}' "$@"`

/** Opens a shell in a folder in which `npx lethe` is the program of this clone. */
export function openShell(
  lifetime: Lifetime,
  folder: string,
  env: Record<string, string>,
  { within = [], program = programAlone }: ShellOptions = {},
): Shell {
  const programs = join(folder, '.programs')
  mkdirSync(programs)
  write('npx', `shift\n${program}`)
  // A test that needs it already runs as root.
  write('sudo', 'exec "$@"')
  const [command = '', ...args] = [...within, 'bash', '--noprofile', '--norc']
  const bash = spawn(command, args, {
    cwd: folder,
    env: {
      ...{ HOME: folder, LANG: 'C.UTF-8', PATH: `${programs}:${process.env.PATH}` },
      // With a shared compile cache, the program starts in half the time.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
  })
  lifetime.after(async () => {
    if (bash.exitCode !== null) return
    bash.stdin.end()
    await once(bash, 'exit')
  })
  let output = ''
  for (const stream of [bash.stdout, bash.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  bash.stdin.write('exec 2>&1\n')
  return {
    async run(command) {
      output = ''
      // From a file, so that no command reads the next one as its input.
      writeFileSync(join(programs, 'command'), `${command}\n`)
      bash.stdin.write(`. '${programs}/command' </dev/null; printf '${endOfOutput.replace('\n', '\\n')}'\n`)
      const timeout = AbortSignal.timeout(timeoutMs)
      while (!output.endsWith(endOfOutput)) {
        await once(bash.stdout, 'data', { signal: timeout }).catch(() =>
          assert.fail(`${command} did not end; it printed ${output}`),
        )
      }
      // A terminal also hides the carriage returns of HTTP.
      return output.slice(0, -endOfOutput.length).replaceAll('\r\n', '\n')
    },
  }

  function write(name: string, script: string): void {
    const file = join(programs, name)
    writeFileSync(file, `#!/usr/bin/env bash\n${script}\n`)
    chmodSync(file, 0o755)
  }
}

/** Ends a call, as a separate argument. */
const endOfCall = '\u0004'

/**
 * A script that runs the program in this process, where it is loaded once for all commands of a guide. It
 * sends its environment and arguments, and receives the output as another script. Only a separate process can
 * read from a pipe.
 */
export async function programHere(lifetime: Lifetime, folder: string): Promise<string> {
  const server = createServer((socket) => answer(socket, folder))
  const port = await listen(server)
  lifetime.after(() => void server.close())
  return `[ -p /dev/stdin ] && ${programAlone}
exec 3<>/dev/tcp/127.0.0.1/${port}
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

/** Runs a call in the folder of the shell, and returns a script that prints its output. */
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
