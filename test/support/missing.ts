import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** For the `skip` of a test that needs a program: `false` when it is on the path, else the reason to skip it. */
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

/** Why what looks at a process through /proc cannot be run here; `false` where it can. */
export const noProc = existsSync('/proc/self/status') ? false : 'only Linux tells what a process takes'
