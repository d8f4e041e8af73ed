import type { Command } from 'commander'
import { explainConfig } from '../../config.ts'
import type { CommandKit } from '../command-kit.ts'
import { legible, table } from '../progress.ts'

export function addConfigCommand(program: Command, { terminal, fail }: CommandKit): void {
  program
    .command('config')
    .description('show every setting, its source and whether it is valid; secrets are not shown')
    .option('--json', 'print one JSON object per line')
    .action((options: { json?: true }) => {
      const settings = explainConfig(terminal.env)
      const lines = options.json
        ? settings.map((setting) => JSON.stringify(setting))
        : table(
            ['VARIABLE', 'VALUE', 'FROM'],
            settings.map(({ variable, value, source, problem }) => [
              variable,
              legible(value ?? 'none'),
              legible(problem === null ? source : `${source}: ${problem}`),
            ]),
          )
      for (const line of lines) terminal.print(line)
      if (settings.some(({ problem }) => problem !== null)) fail()
    })
}
