import assert from 'node:assert/strict'
import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { LetheClient } from '@lethe/client'
import { childProgram } from '../../support/child-program.ts'
import {
  type CommandLine,
  commandLine,
  onlyJson,
  type RunningProgram,
  textOf,
} from '../../support/command-line.ts'
import { freePort } from '../../support/free-port.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { until } from '../../support/until.ts'
import { ampleBudgets } from '../kill/server.ts'

const trackerId = 'shop'
/** The number of lines in each write. */
const linesPerWrite = 15
const everyMs = 10
const writesPerFile = 20

/** Writes lines to a file until it is stopped, and rotates the file in both possible ways. */
class Writer {
  written = 0
  readonly #file: string
  readonly #random: SeededRandom
  readonly #over: Promise<void>
  #isStopped = false
  #rotations = 0

  constructor(file: string, random: SeededRandom) {
    this.#file = file
    this.#random = random
    writeFileSync(file, '')
    this.#over = this.#run()
  }

  stop(): Promise<void> {
    this.#isStopped = true
    return this.#over
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      appendFileSync(this.#file, this.#lines())
      // Longer than the resolution of file times, so that each file is newer than the previous one.
      await delay(everyMs)
      if (this.#random.integer(writesPerFile) === 0) this.#rotate()
    }
  }

  #lines(): string {
    const occurredAt = new Date().toISOString()
    const lines = Array.from({ length: linesPerWrite }, () => {
      const number = this.written++
      const owner = { subjectId: `file-${number % 10}`, sessionId: 's1' }
      return `${JSON.stringify({ type: 'event', ...owner, eventId: `${number}`, name: 'written', occurredAt })}\n`
    })
    return lines.join('')
  }

  #rotate(): void {
    this.#rotations += 1
    const rotated = `${this.#file}.${this.#rotations}`
    if (this.#random.integer(2) === 0) {
      renameSync(this.#file, rotated)
      writeFileSync(this.#file, '')
    } else {
      copyFileSync(this.#file, rotated)
      truncateSync(this.#file)
    }
  }
}

/** A sender, and the subject of its events. */
interface Sender {
  subjectId: string
  program: RunningProgram
}

/**
 * Kills the service, the sender and the shipper at random times while lines flow, and restarts them. In the
 * end, every line of the file is stored once. The stored lines of each sender are the first ones it tracked,
 * including all acknowledged lines.
 */
export async function killIngest(t: TestContext, kills: number): Promise<void> {
  const random = seededRandom()
  const cli = commandLine(t)
  const key = await createShop(cli)
  const env = { ...ampleBudgets, LETHE_PORT: String(await freePort()) }
  const url = `http://127.0.0.1:${env.LETHE_PORT}`
  const remote = { LETHE_URL: url, LETHE_API_KEY: key }
  const file = join(cli.folder, 'app.log')
  const senders: Sender[] = []
  const senderProgram = commandLine(t, undefined, childProgram(new URL('child-sender.ts', import.meta.url)))
  const start = {
    service: () => cli.startProgram(['serve'], env),
    shipper: () => cli.startProgram(['ship', file, '--tracker', trackerId, '--interval', '0.1'], remote),
    sender() {
      const subjectId = `sender-${senders.length}`
      const program = senderProgram.startProgram([], { ...remote, SUBJECT: subjectId })
      senders.push({ subjectId, program })
      return program
    },
  }
  const running = { service: start.service(), shipper: start.shipper(), sender: start.sender() }
  // The shipper ignores files that were rotated before it first started.
  await running.shipper.waitFor('stderr', /Sending/)
  const writer = new Writer(file, random)
  t.after(() => writer.stop())
  const hits = { service: 0, shipper: 0, sender: 0 }
  for (let i = 0; i < kills; i++) {
    await delay(random.integer(1_500))
    const victim = random.pick(['service', 'shipper', 'sender'] as const)
    running[victim].kill('SIGKILL')
    const { signal, stderr } = await running[victim].ended
    assert.equal(signal, 'SIGKILL', `the ${victim} ended by itself: ${stderr}`)
    running[victim] = start[victim]()
    hits[victim] += 1
  }
  await writer.stop()
  await running.service.waitFor('stdout', /"url":/)
  const client = new LetheClient({ url, apiKey: key })
  await until(async () => (await countsOf(client)).file >= writer.written)
  running.sender.kill('SIGTERM')
  assert.equal((await running.sender.ended).code, 0)
  running.shipper.kill('SIGTERM')
  const shipper = await running.shipper.ended
  assert.equal(shipper.code, 0, shipper.stderr)
  const { file: stored, subjects } = await countsOf(client)
  assert.equal(stored, writer.written)
  let tracked = 0
  for (const sender of senders)
    tracked += await checkSender(client, sender, subjects.get(sender.subjectId) ?? 0)
  running.service.kill('SIGTERM')
  assert.equal((await running.service.ended).code, 0)
  t.diagnostic(
    `LETHE_TEST_SEED=${random.seed}: killed ${JSON.stringify(hits)}; ${stored} lines shipped, ${tracked} sent`,
  )
}

/** Creates an organisation with a tracker. Returns a key that can send and read. */
async function createShop(cli: CommandLine): Promise<string> {
  onlyJson(await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme', '--json'], {}))
  const tracker = ['--org', 'acme', '--name', 'Shop', '--id', trackerId]
  onlyJson(await cli.run(['trackers', 'create', ...tracker, '--json']))
  const scopes = ['analytics:collect', 'analytics:view']
  const args = ['keys', 'create', '--org', 'acme', '--name', 'all', '--json', '--scope', ...scopes]
  return textOf(onlyJson(await cli.run(args)), 'key')
}

/** The stored events of the file, and of each subject. */
async function countsOf(client: LetheClient): Promise<{ file: number; subjects: Map<string, number> }> {
  const subjects = new Map<string, number>()
  for await (const { subjectId, counts } of client.listSubjects(trackerId))
    subjects.set(subjectId, counts.events)
  const file = [...subjects]
    .filter(([id]) => id.startsWith('file-'))
    .reduce((sum, [, count]) => sum + count, 0)
  return { file, subjects }
}

/** Checks the stored lines of a sender. Returns their number. */
async function checkSender(
  client: LetheClient,
  { subjectId, program }: Sender,
  count: number,
): Promise<number> {
  const printed = program.stdout().trimEnd().split('\n')
  assert.ok(!printed.includes('lost'), subjectId)
  const acknowledged = Number(printed.at(-1))
  assert.ok(count >= acknowledged, `${subjectId}: ${count} of ${acknowledged} are stored`)
  if (count === 0) return 0
  const numbers: number[] = []
  for await (const { eventId } of client.listEvents(trackerId, subjectId)) numbers.push(Number(eventId))
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    Array.from({ length: count }, (_, number) => number),
    `${subjectId}: the first lines are stored, without a gap`,
  )
  return count
}
