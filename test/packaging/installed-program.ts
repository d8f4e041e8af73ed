import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lifetime } from '../support/service.ts'

/** An installed program, with a folder to work in. */
export interface InstalledProgram {
  /** The words that start it, before those of a command. */
  command: readonly string[]
  /** Its working directory, as seen from this machine. */
  folder: string
  env?: Record<string, string>
}

/** Runs a command that must succeed, and returns its output. */
export async function lethe(
  program: InstalledProgram,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const child = start(program, args, env)
  const output = collect(child)
  const [code] = await once(child, 'close')
  assert.equal(code, 0, `lethe ${args.join(' ')}: ${output.stderr}`)
  return output.stdout
}

/** Starts the service on a free port, and returns its address. It is killed when the test ends. */
export async function serve(t: Lifetime, program: InstalledProgram, env: Record<string, string> = {}) {
  const child = start(program, ['serve'], { LETHE_PORT: '0', ...env })
  const output = collect(child)
  const ended = once(child, 'close')
  t.after(() => void child.kill('SIGKILL'))
  let url: string | undefined
  while (url === undefined) {
    const more = child.stdout ? once(child.stdout, 'data') : ended
    await Promise.race([more, ended])
    url = /"url":"([^"]+)"|listens on (http:\S+)/.exec(output.stdout)?.slice(1).find(Boolean)
    assert.ok(url !== undefined || child.exitCode === null, `serve ended: ${output.stdout}${output.stderr}`)
  }
  return {
    url,
    pid: child.pid ?? 0,
    /** Stops it with SIGTERM, and returns its exit code. */
    async stop(): Promise<unknown> {
      child.kill('SIGTERM')
      const [code] = await ended
      return code
    },
  }
}

/**
 * Uses the program as on the first day: fills a store, answers a person's request, erases, proves it, and
 * makes a backup. Returns the organisation.
 */
export async function useOnFirstDay(t: Lifetime, program: InstalledProgram): Promise<string> {
  const json = async (...args: string[]) => JSON.parse(await lethe(program, [...args, '--json']))
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  assert.equal(await lethe(program, ['--version']), `${version}\n`)
  const { id: org } = await json('orgs', 'create', '--name', 'Acme', '--plan', 'business')
  await json('trackers', 'create', '--org', org, '--name', 'Shop', '--id', 'shop')
  const scopes = ['--scope', 'analytics:view', '--scope', 'analytics:delete-data']
  const { key } = await json('keys', 'create', '--org', org, '--name', 'first', ...scopes)
  writeFileSync(join(program.folder, 'visits.ndjson'), visits())
  const imported = await json('import', 'visits.ndjson')
  assert.partialDeepStrictEqual(imported, { sessions: 2, events: 4 }, JSON.stringify(imported))

  const service = await serve(t, program)
  const known = { LETHE_URL: service.url, LETHE_API_KEY: key }
  for (const page of [
    '/console',
    '/docs',
    '/docs/reference.css',
    '/verify',
    '/v1/analytics/openapi.json',
    '/readyz',
  ]) {
    assert.equal((await fetch(service.url + page)).status, 200, page)
  }
  const found = await lethe(program, ['subjects', 'find', 'email=ada@example.com', '--json'], known)
  assert.equal(JSON.parse(found).subjectId, 'ada')
  await lethe(program, ['subjects', 'export', 'shop', 'ada', '--output', 'ada.json'], known)
  const exported = JSON.parse(readFileSync(join(program.folder, 'ada.json'), 'utf8'))
  assert.equal(exported.events.length, 2)
  await lethe(program, ['subjects', 'erase', 'shop', 'ada', '--yes'], known)
  const gone = await fetch(`${service.url}/v1/analytics/trackers/shop/subjects/ada`, {
    headers: { authorization: `Bearer ${key}` },
  })
  assert.equal(gone.status, 404)
  await lethe(program, ['receipts', 'get', 'shop', 'ada', '--output', 'ada.receipt'], known)
  const [vkey = ''] = (await lethe(program, ['receipts', 'key'], known)).split('\n')
  const claim = ['--tracker', 'shop', '--subject', 'ada']
  const proof = await json('receipts', 'verify', 'ada.receipt', '--key', vkey, ...claim)
  assert.deepEqual(proof.record.counts, { events: 2, sessions: 1 }, JSON.stringify(proof))
  await lethe(program, ['backup', 'copy.db'])
  await lethe(program, ['backup', 'verify', 'copy.db'])
  assert.equal(await service.stop(), 0)
  await lethe(program, ['ledger', 'verify'])
  return org
}

function visits(): string {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const lines = ['ada', 'ben'].flatMap((subjectId) => {
    const visit = { trackerId: 'shop', subjectId, sessionId: `${subjectId}-1` }
    const identifiers = { email: `${subjectId}@example.com` }
    return [
      { type: 'session', ...visit, startedAt: at(60), endedAt: at(50), identifiers, attributes: {} },
      ...[59, 58].map((minutes) => ({
        ...{ type: 'event', ...visit, eventId: `${subjectId}-${minutes}`, name: 'pageview' },
        ...{ occurredAt: at(minutes), properties: { url: 'https://shop.example/ü' } },
      })),
    ]
  })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

function start(program: InstalledProgram, args: readonly string[], env: Record<string, string>) {
  const [file = '', ...first] = program.command
  const { PATH = '', HOME = '' } = process.env
  return spawn(file, [...first, ...args], {
    cwd: program.folder,
    env: { PATH, HOME, ...program.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  }
  return output
}
