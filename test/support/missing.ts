import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The reason to skip a test that needs a program; `false` if the program is on the PATH. */
export function missing(program: string): false | string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  const isThere = folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  return isThere ? false : `${program} is not on the path`
}

/** Why tests that need /proc are skipped; `false` if they run. */
export const noProc = existsSync('/proc/self/status') ? false : 'only Linux tells what a process takes'
