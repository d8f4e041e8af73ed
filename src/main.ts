import { processTerminal } from './cli/terminal.ts'
import { keepYoungGenerationSmall } from './cli/until-stopped.ts'

// What loading the program makes stays. For that the heap would grow by ten megabytes which it never gives back.
keepYoungGenerationSmall()
// Not awaited: the single executable is made of a script, which cannot wait here.
import('./cli/run-cli.ts').then(async ({ runCli }) => {
  process.exitCode = await runCli(process.argv.slice(2), processTerminal())
})
