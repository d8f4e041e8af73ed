import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { readConfig } from '../../../src/config.ts'
import { earliestInstant } from '../../../src/domain/instant.ts'
import { eraseSubject } from '../../../src/operations/erase-subject.ts'
import { openServices } from '../../../src/start.ts'
import { ask } from '../../storage/sqlite/open-shop.ts'
import { type CommandLine, commandLine, onlyJson, programPath } from '../../support/command-line.ts'
import { missing } from '../../support/missing.ts'
import type { Lifetime } from '../../support/service.ts'
import { visit } from '../../support/shop.ts'
import { testSecretFile } from '../../support/test-keyring.ts'
import { buildShop } from '../kill/visits.ts'

/** The system calls with which a restore changes files. */
type SystemCall = 'rename' | 'link' | 'unlink' | 'fsync' | 'ftruncate' | 'pwrite64' | 'copy_file_range'

/** When to kill: before the n-th call of this kind, or before each in turn. */
interface KillPoint {
  call: SystemCall
  time: number | 'every'
  /** Only calls on the file beside the store with this suffix. */
  suffix?: string
}

const view = { organisationId: 'acme', trackerId: 'shop', since: earliestInstant }

interface Place {
  cli: CommandLine
  env: Record<string, string>
  backup: string
  /** Restores the state from before the restore. */
  reset(): void
}

/** A store and its backup; since then, two people were erased and one was added. */
async function prepareRestore(t: Lifetime): Promise<Place> {
  const cli = commandLine(t)
  const [path, backup] = [cli.storePath, join(cli.folder, 'old.backup')]
  const env = { LETHE_SECRET_FILE: testSecretFile() }
  await buildShop(
    path,
    ['anna', 'ben', 'carl'].flatMap((id) => visit(id, { events: 3 })),
  )
  const services = await openServices(readConfig({ ...env, LETHE_STORE: `sqlite:${path}` }))
  try {
    await services.maintenance.backup(backup)
    for (const id of ['anna', 'ben']) await eraseSubject(services, view, id)
    await services.ingest.ingest(visit('newcomer'), services.keyring.tombstoneKeys)
  } finally {
    await services.close()
  }
  const kept = join(cli.folder, 'kept')
  copyFileSync(path, kept)
  const keep = ['old.backup', 'kept']
  return {
    cli,
    env,
    backup,
    reset() {
      for (const name of readdirSync(cli.folder)) if (!keep.includes(name)) rmSync(join(cli.folder, name))
      copyFileSync(kept, path)
    },
  }
}

/** Runs a restore and kills it before a system call. Returns whether that call occurred. */
async function killAt(
  { cli, env, backup }: Place,
  { call, suffix }: KillPoint,
  time: number,
): Promise<boolean> {
  const path = suffix === undefined ? [] : ['-P', cli.storePath + suffix]
  // Some machines have `renameat` instead of `rename`.
  const calls = `/^${call}(at2?)?$`
  const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:signal=SIGKILL:when=${time}`]
  const program = [process.execPath, programPath, 'restore', backup, '--yes', '--json']
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...path, ...inject, ...program], {
    cwd: cli.folder,
    env: { PATH, NODE_COMPILE_CACHE, ...env, LETHE_STORE: `sqlite:${cli.storePath}` },
    stdio: 'ignore',
  })
  const [code, signal] = await once(child, 'exit')
  assert.ok(code === 0 || signal === 'SIGKILL', `it failed by itself: ${code} ${signal}`)
  return signal === 'SIGKILL'
}

/** Which store is in place, as the next process sees it. */
async function storeInPlace({ cli, env }: Place): Promise<'old' | 'new'> {
  const opened = await cli.run(['ledger', 'verify', '--json'], { env })
  assert.partialDeepStrictEqual(onlyJson(opened), { isSound: true, ledgers: [{ size: 2 }] })
  const subjects = ask(cli.storePath, 'SELECT subject_id FROM subjects ORDER BY 1').map(
    (row) => row.subject_id,
  )
  const isOld = subjects.includes('newcomer')
  assert.deepEqual(subjects, isOld ? ['carl', 'newcomer'] : ['carl'])
  // The draft of a restore contains people who were erased since.
  const files = readdirSync(cli.folder).filter((name) => /restoring|replaced/.test(name))
  assert.deepEqual(files, [], 'nothing is left of the restore')
  return isOld ? 'old' : 'new'
}

/** Kills restores before these system calls. */
export function killRestores(points: readonly KillPoint[]): void {
  const skip = missing('strace')
  it('a restore killed at any step leaves the old store or the new one, and nothing else', {
    skip,
  }, async (t) => {
    const place = await prepareRestore(t)
    const tally = { old: 0, new: 0 }
    async function tryAt(point: KillPoint, time: number): Promise<boolean> {
      place.reset()
      const wasKilled = await killAt(place, point, time)
      const left = await storeInPlace(place).catch((error) => {
        throw new Error(`killed at ${point.call} ${time}`, { cause: error })
      })
      if (wasKilled) tally[left] += 1
      else assert.equal(left, 'new')
      return wasKilled
    }
    for (const point of points) {
      const { call, time } = point
      if (time !== 'every') assert.ok(await tryAt(point, time), `${call} ${time} never came`)
      else for (let next = 1; await tryAt(point, next); ) next += 1
    }
    t.diagnostic(
      `${tally.old + tally.new} kills left the old store ${tally.old} times, the new one ${tally.new}`,
    )
    const done = onlyJson(
      await place.cli.run(['restore', place.backup, '--yes', '--json'], { env: place.env }),
    )
    assert.equal(done.replaced, 'store')
    assert.equal(await storeInPlace(place), 'new')
  })
}
