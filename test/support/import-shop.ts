import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import type { Services } from '../../src/domain/services.ts'
import { openServices } from '../../src/start.ts'
import type { CommandLine } from './command-line.ts'
import { preparedStore, runCommands } from './prepared-store.ts'
import { always } from './rows.ts'

type Line = Record<string, unknown>

/** A command line on a store with the organisation `acme`, on the free plan, and its tracker `shop`. */
export const withShop = preparedStore(
  runCommands(
    ['orgs', 'create', '--name', 'Acme', '--id', 'acme'],
    ['trackers', 'create', '--org', 'acme', '--name', 'Shop', '--id', 'shop'],
  ),
)

const recently = new Date(Date.now() - 86_400_000).toISOString()

export function session(fields: Line = {}): Line {
  const span = { startedAt: recently, endedAt: recently }
  return {
    type: 'session',
    subjectId: 'anna',
    sessionId: 's1',
    ...span,
    attributes: { country: 'DE' },
    ...fields,
  }
}

export function event(fields: Line = {}): Line {
  const said = { name: 'pageview', occurredAt: recently, properties: { url: 'https://shop.example/' } }
  return { type: 'event', subjectId: 'anna', sessionId: 's1', ...said, ...fields }
}

export function ndjson(...lines: (Line | string)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}

export function write(cli: CommandLine, name: string, text: string | Uint8Array): string {
  const path = join(cli.folder, name)
  writeFileSync(path, text)
  return path
}

/** Reads the store through a separate connection. */
async function readStore<Found>(
  cli: CommandLine,
  read: (services: Services) => Found,
): Promise<Awaited<Found>> {
  const services = await openServices(readConfig({ LETHE_STORE: `sqlite:${cli.storePath}` }))
  try {
    return await read(services)
  } finally {
    await services.close()
  }
}

/** The stored events of a subject; `null` if the subject does not exist. */
export async function eventsOf(cli: CommandLine, subjectId = 'anna', trackerId = 'shop') {
  const query = { limit: 100, after: null, sessionId: null }
  const tracker = { organisationId: 'acme', trackerId, since: always }
  const page = await readStore(cli, ({ events }) => events.list(tracker, subjectId, query))
  return page?.rows ?? null
}

/** The record of a subject; `null` if it does not exist. */
export function recordOf(cli: CommandLine, subjectId = 'anna', trackerId = 'shop') {
  const tracker = { organisationId: 'acme', trackerId, since: always }
  return readStore(cli, ({ subjects }) => subjects.read(tracker, subjectId))
}
