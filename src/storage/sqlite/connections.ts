import type { DatabaseSync } from 'node:sqlite'

type CommandsOf<Commands> = { [Name in keyof Commands]: (...args: never[]) => unknown }

/** Has commands done, each one transaction, by the connection that writes. */
export interface CommandRunner<out Commands extends CommandsOf<Commands>> {
  run<Name extends keyof Commands>(
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>>
  /** As `run`; what is in `moved` as well as in the arguments is not copied to the thread, where there is one, and may not be used afterwards. */
  runMoving<Name extends keyof Commands>(
    moved: readonly ArrayBuffer[],
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<ReturnType<Commands[Name]>>
}

/** What the stores work with: a connection to read through, and a writer that knows at least the commands a store needs. */
export interface Connections<out Commands extends CommandsOf<Commands> = object> {
  /** The file. */
  path: string
  reader: DatabaseSync
  writer: CommandRunner<Commands>
}
