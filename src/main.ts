import { processTerminal } from './cli/terminal.ts'
import { keepYoungGenerationSmall } from './cli/until-stopped.ts'

// Otherwise loading the program would permanently grow the heap by ten megabytes.
keepYoungGenerationSmall()
// Not awaited, because the single executable runs a script, which has no top-level await.
import('./cli/run-cli.ts').then(async ({ runCli }) => {
  process.exitCode = await runCli(process.argv.slice(2), processTerminal())
})
