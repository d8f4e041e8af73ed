import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { variables } from '../../src/config.ts'
import { createKeyString } from '../../src/domain/api-key.ts'
import { commandLine, jsonLines } from '../support/command-line.ts'

const keyString = createKeyString('0123456789ABCDEF', {
  uuid: () => '',
  base62: (length) => 'hushhush'.repeat(4).slice(0, length),
})

describe('lethe config', () => {
  it('shows every variable with its value and source, and opens no store', async (t) => {
    const cli = commandLine(t)
    const env = { LETHE_HOST: ' 0.0.0.0 ', LETHE_LOG_LEVEL: '' }
    const { code, stdout } = await cli.run(['config', '--json'], { env })
    const settings = jsonLines(stdout)
    assert.deepEqual(
      settings.map(({ variable }) => variable),
      Object.keys(variables),
    )
    const setting = (name: string) => settings.find(({ variable }) => variable === name)
    assert.deepEqual(setting('LETHE_HOST'), {
      ...{ variable: 'LETHE_HOST', value: '0.0.0.0', source: 'environment', problem: null },
    })
    assert.partialDeepStrictEqual(setting('LETHE_LOG_LEVEL'), { value: 'info', source: 'default' })
    assert.partialDeepStrictEqual(setting('LETHE_PUBLIC_URL'), { value: null, source: 'default' })
    assert.partialDeepStrictEqual(setting('LETHE_STORE'), { value: `sqlite:${cli.storePath}` })
    assert.equal(code, 0)
    assert.equal(cli.holdsBytes(''), false)
  })

  it('is a table for people', async (t) => {
    const { stdout } = await commandLine(t).run(['config'])
    assert.match(stdout, /^VARIABLE +VALUE +FROM\nLETHE_HOST +127\.0\.0\.1 +default\n/)
    assert.match(stdout, /^LETHE_PORT +0 +environment$/m)
    assert.match(stdout, /^LETHE_URL +none +default$/m)
  })

  it('shows no keys or passwords', async (t) => {
    const cli = commandLine(t)
    const env = {
      LETHE_API_KEY: keyString,
      LETHE_STORE: 'postgres://lethe:hush@db.example/lethe?sslpassword=hush',
      LETHE_LIMITER: 'redis://:hush@cache:6379/2',
    }
    for (const args of [['config'], ['config', '--json']]) {
      const { code, stdout, stderr } = await cli.run(args, { env })
      assert.equal(code, 0)
      assert.doesNotMatch(stdout + stderr, /hush/)
      assert.match(stdout, /lethe_0123456789ABCDEF…/)
      assert.match(stdout, /postgres:\/\/…@db\.example\/lethe\?…/)
      assert.match(stdout, /redis:\/\/…@cache:6379\/2/)
    }
  })

  it('shows the problem of each invalid variable, shows the others, and fails', async (t) => {
    const cli = commandLine(t)
    const env = {
      LETHE_LIMIT_IP: 'lots',
      LETHE_STORE: 'postgres:/lethe:hush@db.example/lethe',
      LETHE_API_KEY: `${keyString}x`,
      LETHE_LIMITER: 'memory\u001b[2J',
    }
    const people = await cli.run(['config'], { env })
    assert.equal(people.code, 1)
    assert.match(
      people.stdout,
      /^LETHE_LIMIT_IP +lots +environment: LETHE_LIMIT_IP is "lots"; it accepts a budget/m,
    )
    assert.match(people.stdout, /^LETHE_STORE +postgres:\/… +environment: LETHE_STORE is "postgres:\/…"/m)
    assert.match(people.stdout, /^LETHE_PORT +0 +environment$/m)
    const { code, stdout } = await cli.run(['config', '--json'], { env })
    assert.equal(code, 1)
    const wrong = jsonLines(stdout).filter(({ problem }) => problem !== null)
    assert.deepEqual(
      wrong.map(({ variable }) => variable),
      ['LETHE_STORE', 'LETHE_LIMITER', 'LETHE_LIMIT_IP', 'LETHE_API_KEY'],
    )
    assert.doesNotMatch(people.stdout + stdout, /hush|\p{Cc}(?<!\n)/u)
  })

  it('shows an unknown variable without its value', async (t) => {
    const { code, stdout } = await commandLine(t).run(['config'], { env: { LETHE_PROT: 'hush' } })
    assert.equal(code, 1)
    assert.match(
      stdout,
      /LETHE_PROT +none +environment: LETHE_PROT is not a variable of Lethe; the nearest is LETHE_PORT/,
    )
    assert.doesNotMatch(stdout, /hush/)
  })
})
