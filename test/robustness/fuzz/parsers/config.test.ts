import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Config, ConfigError, readConfig, variables } from '../../../../src/config.ts'
import { checkProperty } from '../check-property.ts'
import { anyText } from './texts.ts'

const names = Object.keys(variables)
const secret = 'hunter2hunter2'

/** Valid and invalid parts of values. */
const piece = fc.constantFrom(
  ...[
    ...['60', '0', '-1', '1.5', '1e3', '99999999999', '/minute', '/hour', '/fortnight', 'free', '='],
    ...[',', '180', 'off', ' '],
  ],
  ...[
    ...'sqlite: postgres:// redis:// rediss:// http:// https:// host : @ / ? # [::1]'.split(' '),
    ...'10.0.0.0 /8 /0'.split(' '),
  ],
  ...['memory', 'info', 'trace', 'lethe_', '\n', '\r', '\u0000', '\u001b[31m', '%', '%zz', 'ü', '🦦'],
)
const value = fc.oneof(
  anyText,
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
  fc.constantFrom(...Object.values(variables).map(({ fallback }) => fallback)),
)

/** A configuration, or the message of its `ConfigError`. Other errors are thrown. */
function read(env: Record<string, string>): Config | string {
  try {
    return readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.message
  }
}

describe('any configuration', () => {
  it('is accepted, or refused in one line that names the variable and its accepted values', (t) =>
    checkProperty(
      t,
      fc.property(fc.constantFrom(...names), value, (name, text) => {
        const config = read({ [name]: text })
        if (typeof config !== 'string') return
        assert.ok(config.startsWith(`${name} is `), config)
        const control = [...config].find((character) => character < ' ')
        assert.equal(control, undefined, 'a line with control characters')
        assert.ok(
          Object.entries(variables).some(
            ([known, { accepts }]) => known === name && config.endsWith(`it accepts ${accepts}.`),
          ),
        )
      }),
      { runs: 5_000 },
    ))

  it('is within its bounds if it is accepted', (t) =>
    checkProperty(
      t,
      fc.property(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }), (env) => {
        const config = read(env)
        if (typeof config === 'string') return
        for (const port of [config.port, config.metricsPort])
          assert.ok(port === 'off' || (port >= 0 && port <= 65_535))
        for (const { limit, windowMs } of Object.values(config.budgets)) {
          assert.ok(Number.isSafeInteger(limit) && limit >= 1 && windowMs >= 1_000)
        }
        for (const days of Object.values(config.retentionDays)) assert.ok(days >= 1 && days <= 36_500)
        assert.ok(config.sweepSeconds >= 1 && config.sweepSeconds <= 86_400)
        assert.ok(config.scrubHour === 'off' || (config.scrubHour >= 0 && config.scrubHour <= 23))
        assert.ok(config.publicUrl === null || new URL(config.publicUrl).origin === config.publicUrl)
      }),
      { runs: 3_000 },
    ))

  it('never repeats a password or a key', (t) => {
    const address = fc
      .tuple(
        fc.constantFrom('postgres:', 'redis:', 'http:', 'postgress:', 'rediss:', ''),
        fc.constantFrom('//', '/', ''),
        fc.constantFrom('user:', ':', ''),
        value,
      )
      .map(([scheme, slashes, user, rest]) => `${scheme}${slashes}${user}${secret}@${rest}`)
    return checkProperty(
      t,
      fc.property(
        fc.constantFrom('LETHE_STORE', 'LETHE_LIMITER', 'LETHE_URL', 'LETHE_PUBLIC_URL'),
        address,
        value,
        (name, url, rest) => {
          for (const env of [{ [name]: url }, { LETHE_API_KEY: secret + rest }]) {
            const config = read(env)
            if (typeof config === 'string') assert.equal(config.includes(secret), false, config)
          }
        },
      ),
      { runs: 2_000 },
    )
  })
})
