import { existsSync } from 'node:fs'

/** Why what looks at a process through /proc cannot be run here; `false` where it can. */
export const noProc = existsSync('/proc/self/status') ? false : 'only Linux tells what a process takes'
