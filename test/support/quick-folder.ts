import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** The file system that Linux keeps in memory. */
const inMemory = '/dev/shm'
/** Several times what the tests have ever needed. */
const enoughBytes = 4 * 1024 ** 3

/**
 * Creates the folder for everything that tests write, in memory if there is room: the many stores that they
 * create and delete would keep a disk busier than the processors.
 */
export function quickFolder(): string {
  const name = 'lethe-tests-'
  if (process.env.TMPDIR === undefined && hasRoom(inMemory)) {
    const folder = mkdtempSync(join(inMemory, name))
    if (canRunPrograms(folder)) return folder
    rmSync(folder, { recursive: true })
  }
  return mkdtempSync(join(tmpdir(), name))
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return Math.min(bavail * bsize, freemem()) > enoughBytes
  } catch {
    return false
  }
}

/** Some systems mount it with `noexec`. */
function canRunPrograms(folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o755)
  const { status } = spawnSync(program)
  rmSync(program)
  return status === 0
}
