import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { sampleVariables } from '../../src/operations/sample.ts'
import {
  type CommandLine,
  callApi,
  commandLine,
  jsonLines,
  type RunningProgram,
} from '../support/command-line.ts'
import { inStore } from '../support/filled-store.ts'

const execute = promisify(execFile)

const hasCurl = await execute('curl', ['--version']).then(
  () => true,
  () => false,
)

async function startQuickstart(cli: CommandLine): Promise<RunningProgram & { url: string; told: string }> {
  const program = cli.startProgram(['quickstart'])
  const [, url = ''] = await program.waitFor(
    'stderr',
    /Lethe listens on (\S+)\n[\s\S]*(?:variables\?token=|--scope ).*\n/,
  )
  return { ...program, url, told: program.stderr() }
}

/** Runs a printed line in a shell if curl is available, and otherwise sends the same request. */
async function paste(line: string): Promise<Record<string, unknown>> {
  if (hasCurl) {
    const { stdout } = await execute('sh', ['-c', line])
    const body: { data: Record<string, unknown> } = JSON.parse(stdout)
    return body.data
  }
  const [, key = '', method, url = ''] =
    /^ *curl -H 'Authorization: Bearer (\S+)' (?:-X (\S+) )?'?(http[^']+)'?$/.exec(line) ?? []
  return (await callApi(url, key, method)).data
}

/** Opens a one-time link like its page. */
async function assertOpens(link: string): Promise<void> {
  const { origin, hash } = new URL(link)
  const response = await fetch(`${origin}/console/api/invitation`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token: hash.slice(1) }),
  })
  assert.equal(response.status, 200)
}

function commandsIn(told: string, start: string): string[] {
  return told.split('\n').filter((line) => line.trimStart().startsWith(start))
}

/** Runs a printed command with its arguments as parsed by a shell. */
async function runPrinted(cli: CommandLine, command: string): Promise<{ stdout: string }> {
  const line = command.trim().replace('npx lethe', "printf '%s\\n'")
  const { stdout } = await execute('sh', ['-c', line])
  return cli.run(stdout.trimEnd().split('\n'))
}

describe('lethe quickstart', { concurrency: true }, () => {
  it('fills an empty store, prints a key once and working commands; later it only serves', async (t) => {
    const cli = commandLine(t)
    const first = await startQuickstart(cli)
    const alone = first.told.split('\n').filter((line) => /^ *lethe_\w+$/.test(line))
    assert.equal(alone.length, 1, 'the key stands alone on one line')
    const key = String(alone[0]).trim()

    const [, link = ''] = /\n {2}(\S+\/console\/join#\w{43})\n/.exec(first.told) ?? []
    assert.ok(link.startsWith(`${first.url}/console/`))
    await assertOpens(link)

    const lines = commandsIn(first.told, 'curl')
    assert.equal(lines.length, 4)
    const [list = '', read = '', erase = '', variables = ''] = lines
    const page = await paste(list)
    assert.ok(Array.isArray(page.subjects))
    assert.equal(page.subjects.length, 3)
    const subject = await paste(read)
    assert.partialDeepStrictEqual(subject, { trackerId: 'sample-shop' })
    const erased = await paste(erase)
    assert.partialDeepStrictEqual(erased, {
      subjectId: subject.subjectId,
      alreadyErased: false,
      counts: subject.counts,
    })
    assert.equal((await paste(erase)).alreadyErased, true)
    assert.deepEqual(await paste(variables), { variables: sampleVariables, version: 1 })

    const count = await countSubjects(`${first.url}/v1/analytics/trackers/sample-shop/subjects`, key)
    assert.ok(count >= 900 && count <= 1_100, `${count} subjects are not about 1,000`)
    first.kill('SIGTERM')
    const { code, stdout } = await first.ended
    assert.equal(code, 0)
    assert.equal(stdout.includes(key.slice(23)), false, 'the log holds no key')
    assert.ok(jsonLines(stdout).length > 0, 'the log is made of JSON lines')
    assert.equal(cli.holdsBytes(key.slice(23)), false)

    const second = await startQuickstart(cli)
    assert.doesNotMatch(second.told, /lethe_[0-9A-Za-z]{16}_/)
    assert.equal((await callApi(`${second.url}/v1/analytics/trackers/sample-shop/subjects`, key)).status, 200)
    assert.equal(await countSubjects(`${second.url}/v1/analytics/trackers/sample-shop/subjects`, key), count)
    assert.equal(commandsIn(second.told, 'npx lethe').length, 2)
  })

  it('prints a working command for an organisation of an older store whose ID has a quote and spaces', async (t) => {
    const cli = commandLine(t)
    // New stores do not allow this ID, but existing ones keep it.
    const id = "o'brien & sons"
    await inStore(cli.storePath, async ({ organisations, trackers }) => {
      await organisations.create({ id, name: "O'Brien", plan: 'free', createdAt: 1 })
      await trackers.create({ id: 'shop', organisationId: id, name: 'Shop', createdAt: 1 })
    })
    const program = await startQuickstart(cli)
    const [invite = '', command = ''] = commandsIn(program.told, 'npx lethe')
    const { stdout } = await runPrinted(cli, command)
    assert.match(stdout, /^lethe_\w+\n$/)
    assert.equal(
      (await callApi(`${program.url}/v1/analytics/trackers/shop/subjects`, stdout.trim())).status,
      200,
    )
    assert.match((await runPrinted(cli, invite)).stdout, /^http\S+\/console\/join#\w{43}\n$/)
    const listed = await cli.run(['keys', 'list', '--org', id, '--json'])
    assert.equal(jsonLines(listed.stdout).length, 1)
    assert.equal(
      jsonLines((await cli.run(['orgs', 'list', '--json'])).stdout).length,
      1,
      'no sample was added',
    )
  })
})

async function countSubjects(url: string, key: string): Promise<number> {
  let count = 0
  let cursor: unknown = ''
  do {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`
    const { status, data } = await callApi(`${url}?limit=200${from}`, key)
    assert.equal(status, 200)
    assert.ok(Array.isArray(data.subjects))
    count += data.subjects.length
    cursor = data.nextCursor
  } while (cursor !== null)
  return count
}
