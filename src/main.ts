import { processTerminal } from './cli/terminal.ts'
import { keepYoungGenerationSmall } from './cli/v8-settings.ts'

// What loading the program makes stays. For that the heap would grow by ten megabytes which it never gives back.
keepYoungGenerationSmall()
const { runCli } = await import('./cli/run-cli.ts')
process.exitCode = await runCli(process.argv.slice(2), processTerminal())
