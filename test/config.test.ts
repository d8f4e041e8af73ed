import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigError, explainConfig, readConfig, readStoreAddress, variables } from '../src/config.ts'
import { createKeyString } from '../src/domain/api-key.ts'
import { clientAddress } from '../src/http/client-address.ts'

/** The message with which a value is rejected. */
function refusal(variable: string, value: string): string {
  try {
    readConfig({ ...besides(variable), [variable]: value })
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message
  }
  assert.fail(`${variable} takes ${JSON.stringify(value)}`)
}

const minute = 60_000
const hour = 60 * minute

const defaults = {
  host: '127.0.0.1',
  port: 8080,
  store: { engine: 'sqlite', path: 'data/lethe.db' },
  limiter: { engine: 'memory' },
  budgets: {
    ip: { name: 'ip', limit: 60, windowMs: minute },
    key: { name: 'key', limit: 120, windowMs: minute },
    erasure: { name: 'erasure', limit: 60, windowMs: hour },
  },
  metricsHost: '127.0.0.1',
  metricsPort: 'off',
  otlp: null,
  logLevel: 'info',
}

describe('the configuration', () => {
  it('has the documented defaults', () => {
    assert.partialDeepStrictEqual(readConfig({}), defaults)
    assert.deepEqual(readConfig({}).trustedProxies, [])
  })

  it('treats an empty or blank value as the default', () => {
    for (const blank of ['', '   ', '\t']) {
      const env = Object.fromEntries(Object.keys(variables).map((name) => [name, blank]))
      assert.deepEqual(readConfig(env), readConfig({}))
    }
  })

  it('ignores spaces around a value', () => {
    assert.equal(readConfig({ LETHE_PORT: ' 9000 \n' }).port, 9000)
  })

  it('reads only its own variables', () => {
    const others = { PORT: '1', HOST: 'elsewhere', LOG_LEVEL: 'trace', OTEL_SERVICE_NAME: 'other' }
    assert.deepEqual(readConfig({ ...others, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), readConfig({}))
  })
})

const redis = { engine: 'redis', host: 'cache-1.example', port: 6_379, isEncrypted: false, database: 0 }
const keyString = createKeyString('0123456789ABCDEF', {
  uuid: () => '',
  base62: (length) => 'x'.repeat(length),
})

/** Other variables that a variable needs to have an effect. */
function besides(variable: string): Record<string, string> {
  // The variables of OpenTelemetry only count if something is exported.
  if (variable.startsWith('OTEL_')) return { LETHE_OTLP: 'traces,metrics' }
  if (!variable.startsWith('LETHE_OIDC_')) return {}
  return { LETHE_OIDC_ISSUER: 'https://id.example', LETHE_OIDC_CLIENT_ID: 'lethe' }
}

const good: Record<string, [text: string, part: Record<string, unknown>][]> = {
  LETHE_HOST: [
    ['0.0.0.0', { host: '0.0.0.0' }],
    ['::1', { host: '::1' }],
    ['api.internal-1.example', { host: 'api.internal-1.example' }],
  ],
  LETHE_PORT: [
    ['0', { port: 0 }],
    ['1', { port: 1 }],
    ['65535', { port: 65_535 }],
  ],
  LETHE_STORE: [
    ['sqlite:lethe.db', { store: { engine: 'sqlite', path: 'lethe.db' } }],
    [
      'sqlite:/var/lib/lethe/my store.db',
      { store: { engine: 'sqlite', path: '/var/lib/lethe/my store.db' } },
    ],
  ],
  LETHE_LIMITER: [
    ['memory', { limiter: { engine: 'memory' } }],
    ['redis://localhost', { limiter: { ...redis, host: 'localhost' } }],
    ['redis://10.0.0.7:7000/', { limiter: { ...redis, host: '10.0.0.7', port: 7_000 } }],
    ['redis://[fd00::7]:7000/12', { limiter: { ...redis, host: 'fd00::7', port: 7_000, database: 12 } }],
    ['redis://:p%40ss%2Fword@cache-1.example', { limiter: { ...redis, password: 'p@ss/word' } }],
    [
      'rediss://lethe:hunter2@cache-1.example:6380/1',
      {
        limiter: {
          ...redis,
          isEncrypted: true,
          port: 6_380,
          username: 'lethe',
          password: 'hunter2',
          database: 1,
        },
      },
    ],
  ],
  LETHE_LIMIT_IP: [
    ['1/second', { budgets: { ip: { name: 'ip', limit: 1, windowMs: 1_000 } } }],
    ['999999999/day', { budgets: { ip: { name: 'ip', limit: 999_999_999, windowMs: 24 * hour } } }],
  ],
  LETHE_LIMIT_KEY: [['5/hour', { budgets: { key: { name: 'key', limit: 5, windowMs: hour } } }]],
  LETHE_LIMIT_ERASURE: [
    ['7/minute', { budgets: { erasure: { name: 'erasure', limit: 7, windowMs: minute } } }],
  ],
  LETHE_LIMIT_VARIABLES: [
    ['9/second', { budgets: { variables: { name: 'variables', limit: 9, windowMs: 1_000 } } }],
  ],
  LETHE_VARIABLES_PORT: [
    ['', { variablesPort: 'main' }],
    ['0', { variablesPort: 0 }],
    ['8081', { variablesPort: 8081 }],
  ],
  LETHE_BATCH_PACE: [
    ['10/second', { batchPaceMs: 100 }],
    ['1/day', { batchPaceMs: 24 * hour }],
  ],
  LETHE_TRUSTED_PROXIES: [
    ['10.0.0.0/8', { trustedProxies: ['10.0.0.0/8'] }],
    ['127.0.0.1 , ::1,fd00::/8', { trustedProxies: ['127.0.0.1', '::1', 'fd00::/8'] }],
    ['10.0.0.1,', { trustedProxies: ['10.0.0.1'] }],
  ],
  LETHE_MAX_CONNECTIONS: [
    ['10', { maxConnections: 10 }],
    ['1000000', { maxConnections: 1_000_000 }],
  ],
  LETHE_MAX_LINE_KIB: [
    ['1', { maxLineBytes: 1_024 }],
    ['1024', { maxLineBytes: 1_048_576 }],
  ],
  LETHE_PUBLIC_URL: [
    ['https://lethe.example', { publicUrl: 'https://lethe.example' }],
    ['http://LETHE.example:8080/', { publicUrl: 'http://lethe.example:8080' }],
  ],
  LETHE_RETENTION_DAYS: [
    ['free=1', { retentionDays: { free: 1, starter: 425, pro: 730, business: 1_825 } }],
    [
      'pro = 36500 , free=30,business=2,starter=3',
      { retentionDays: { free: 30, starter: 3, pro: 36_500, business: 2 } },
    ],
  ],
  LETHE_SECRET_FILE: [['/etc/lethe/secret', { secretFile: '/etc/lethe/secret' }]],
  LETHE_LEDGER_ORIGIN: [['lethe.example/eu', { ledgerOrigin: 'lethe.example/eu' }]],
  LETHE_TOMBSTONE_DAYS: [
    ['1', { tombstoneDays: 1 }],
    ['36500', { tombstoneDays: 36_500 }],
  ],
  LETHE_JOURNAL: [['/var/lib/lethe.journal', { journal: '/var/lib/lethe.journal' }]],
  LETHE_SPOOL_DIR: [['/var/lib/lethe', { spoolFolder: '/var/lib/lethe' }]],
  LETHE_OIDC_ISSUER: [
    ['https://id.example/realms/x', { singleSignOn: { issuer: 'https://id.example/realms/x' } }],
    ['http://localhost:9000/', { singleSignOn: { issuer: 'http://localhost:9000/' } }],
    ['http://[::1]:9000', { singleSignOn: { issuer: 'http://[::1]:9000' } }],
  ],
  LETHE_OIDC_CLIENT_ID: [['a-client', { singleSignOn: { clientId: 'a-client', clientSecretFile: null } }]],
  LETHE_OIDC_CLIENT_SECRET_FILE: [
    ['/etc/lethe/oidc', { singleSignOn: { clientSecretFile: '/etc/lethe/oidc' } }],
  ],
  LETHE_OIDC_SCOPES: [['openid  profile', { singleSignOn: { scopes: 'openid profile' } }]],
  LETHE_OIDC_NAME: [['Köln ID', { singleSignOn: { name: 'Köln ID' } }]],
  LETHE_OIDC_ROLE_CLAIM: [['realm_access.roles', { singleSignOn: { roleClaim: 'realm_access.roles' } }]],
  LETHE_OIDC_ROLES: [
    [
      'admin = a b,viewer=*',
      {
        singleSignOn: {
          roleClaim: 'groups',
          roles: [
            { role: 'admin', value: 'a b' },
            { role: 'viewer', value: '*' },
          ],
        },
      },
    ],
  ],
  LETHE_ACTIVITY_DAYS: [
    ['1', { activityDays: 1 }],
    ['36500', { activityDays: 36_500 }],
  ],
  LETHE_SWEEP_SECONDS: [
    ['1', { sweepSeconds: 1 }],
    ['86400', { sweepSeconds: 86_400 }],
  ],
  LETHE_SCRUB_HOUR: [
    ['0', { scrubHour: 0 }],
    ['23', { scrubHour: 23 }],
    ['off', { scrubHour: 'off' }],
  ],
  LETHE_OTLP: [
    ['off', { otlp: null }],
    ['traces', { otlp: { tracesUrl: 'http://localhost:4318/v1/traces', metricsUrl: null } }],
    ['metrics , traces', { otlp: { tracesUrl: 'http://localhost:4318/v1/traces' } }],
    ['traces,metrics', { otlp: { metricsUrl: 'http://localhost:4318/v1/metrics', serviceName: 'lethe' } }],
  ],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    ['https://otlp.example/a/', { otlp: { tracesUrl: 'https://otlp.example/a/v1/traces' } }],
  ],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [['http://[::1]:1/t', { otlp: { tracesUrl: 'http://[::1]:1/t' } }]],
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: [['http://[::1]:1/m', { otlp: { metricsUrl: 'http://[::1]:1/m' } }]],
  OTEL_EXPORTER_OTLP_PROTOCOL: [['http/protobuf', {}]],
  OTEL_EXPORTER_OTLP_TIMEOUT: [['100', { otlp: { timeoutMs: 100 } }]],
  OTEL_SERVICE_NAME: [['desk of Zürich', { otlp: { serviceName: 'desk of Zürich' } }]],
  OTEL_TRACES_SAMPLER: [['traceidratio', { otlp: { sampler: 'traceidratio' } }]],
  OTEL_TRACES_SAMPLER_ARG: [
    ['0.05', { otlp: { ratio: 0.05 } }],
    ['1.0', { otlp: { ratio: 1 } }],
  ],
  OTEL_METRIC_EXPORT_INTERVAL: [['5000', { otlp: { metricIntervalMs: 5_000 } }]],
  LETHE_METRICS_PORT: [
    ['off', { metricsPort: 'off' }],
    ['0', { metricsPort: 0 }],
    ['9464', { metricsPort: 9464 }],
  ],
  LETHE_METRICS_HOST: [
    ['0.0.0.0', { metricsHost: '0.0.0.0' }],
    ['::1', { metricsHost: '::1' }],
  ],
  LETHE_LOG_LEVEL: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((logLevel) => [
    logLevel,
    { logLevel },
  ]),
  LETHE_URL: [
    ['http://127.0.0.1:8080', { apiUrl: 'http://127.0.0.1:8080' }],
    ['https://proxy.example/lethe/', { apiUrl: 'https://proxy.example/lethe/' }],
  ],
  LETHE_API_KEY: [[keyString, { apiKey: keyString }]],
}

const bad: Record<string, string[]> = {
  LETHE_HOST: ['http://127.0.0.1', 'two hosts', '127.0.0.1/8', 'höst'],
  LETHE_PORT: ['65536', '-1', '80.5', '0x50', '1e3', 'http', '8080,8081', '+80', '٨٠'],
  LETHE_STORE: ['sqlite:', 'lethe.db', 'mysql://db.example/lethe', 'sqlite::memory:', 'SQLITE:lethe.db'],
  LETHE_LIMITER: [
    ...['none', 'Memory', 'memcached://cache.example', 'redis', 'redis:', 'redis://', 'redis:///1'],
    ...['redis://:6379', 'redis:cache.example', 'REDIS://cache.example', 'redis://cache.example:0'],
    ...['redis://cache.example:65536', 'redis://cache.example:port', 'redis://cache.example/one'],
    ...['redis://cache.example/1/2', 'redis://cache.example?db=1', 'redis://cache.example#1'],
    ...['redis://:%zz@cache.example', 'redis://two hosts', 'redis://one.example,two.example'],
    ...['redis+sentinel://cache.example', 'unix:///run/redis.sock'],
  ],
  LETHE_LIMIT_IP: [
    ...['60', '0/minute', '-1/minute', '60/week', '60 / minute', '1.5/second', '60/minute/ip', 'off'],
  ],
  LETHE_LIMIT_KEY: ['120/MINUTE', '1e3/hour', '/minute', '01/minute', '1000000000/minute'],
  LETHE_LIMIT_ERASURE: ['sixty/hour', '60/', '60/hours'],
  LETHE_LIMIT_VARIABLES: ['0/minute', '6000', 'off'],
  LETHE_VARIABLES_PORT: ['65536', '-1', 'off', 'main'],
  LETHE_BATCH_PACE: ['0/minute', 'off', '10/week'],
  LETHE_TRUSTED_PROXIES: ['loopback', '10.0.0.0/33', '300.1.1.1', '10.0.0.1 10.0.0.2', '*', 'fd00::/129'],
  LETHE_MAX_CONNECTIONS: ['9', '1000001', 'many', '1e4', '-1'],
  LETHE_MAX_LINE_KIB: ['0', '1025', '256K', '1.5', '-1'],
  LETHE_PUBLIC_URL: [
    ...'lethe.example ftp://lethe.example https://lethe.example/console'.split(' '),
    ...'https://lethe.example?x https://user:secret@lethe.example https://'.split(' '),
  ],
  LETHE_RETENTION_DAYS:
    'free free=0 free=36501 gratis=10 free=1.5 free=10,free=20 free=1=2 free=10, 180'.split(' '),
  LETHE_SECRET_FILE: ['a\0b', Buffer.alloc(32, 7).toString('base64')],
  LETHE_LEDGER_ORIGIN: ['two words', 'a+b', 'x'.repeat(201)],
  LETHE_TOMBSTONE_DAYS: ['0', '-1', '1.5', '36501', 'never'],
  LETHE_JOURNAL: ['a\0b'],
  LETHE_SPOOL_DIR: ['a\0b'],
  LETHE_OIDC_ISSUER: [
    ...'id.example ftp://id.example http://id.example http://10.0.0.1 https://a:b@id.example'.split(' '),
    ...'https://id.example/?x https://id.example/#x http://localhost.example'.split(' '),
    'https://id.example/.well-known/openid-configuration',
  ],
  LETHE_OIDC_CLIENT_ID: ['two words', 'x'.repeat(201)],
  LETHE_OIDC_CLIENT_SECRET_FILE: ['a\0b'],
  LETHE_OIDC_SCOPES: ['email', 'openid "x"', 'openid\temail'],
  LETHE_OIDC_NAME: ['a\nb', 'x'.repeat(41)],
  LETHE_OIDC_ROLE_CLAIM: ['two words', 'x'.repeat(201)],
  LETHE_OIDC_ROLES: ['admin', 'owner=x', 'admin=', 'admin=x,'],
  LETHE_ACTIVITY_DAYS: ['0', '36501', '5y', '-5', '1.5'],
  LETHE_SWEEP_SECONDS: ['0', '86401', '1m', '-5', '1.5'],
  LETHE_SCRUB_HOUR: ['24', '-1', '3:00', 'never', 'OFF'],
  LETHE_METRICS_PORT: ['65536', '-1', 'on', 'OFF', '9464/metrics'],
  LETHE_OTLP: ['on', 'traces,', 'traces,logs', 'traces,traces', 'OFF'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['localhost:4318', 'grpc://collector:4317', '/v1'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['collector', 'unix:///run/collector'],
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: ['collector', 'unix:///run/collector'],
  OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc', 'http/json'],
  OTEL_EXPORTER_OTLP_TIMEOUT: ['0', '99', '60001', '10s'],
  OTEL_SERVICE_NAME: ['two\nlines', 'x'.repeat(256)],
  OTEL_TRACES_SAMPLER: ['always', 'jaeger_remote'],
  OTEL_TRACES_SAMPLER_ARG: ['1.1', '-0.1', '10%', '.'],
  OTEL_METRIC_EXPORT_INTERVAL: ['99', '1m', '3600001'],
  LETHE_METRICS_HOST: ['http://127.0.0.1', 'two hosts'],
  LETHE_LOG_LEVEL: ['INFO', 'verbose', '30'],
  LETHE_URL: [
    ...'127.0.0.1:8080 lethe.example ftp://lethe.example http://user:hunter2@lethe.example'.split(' '),
    ...'http://lethe.example/?key=hunter2 http://lethe.example/#top'.split(' '),
  ],
  LETHE_API_KEY: ['hunter2', `${keyString}x`, keyString.slice(0, -1), `Bearer ${keyString}`],
}

/**
 * Variables whose values must not be printed or logged, because even an invalid one may contain a password,
 * key or secret.
 */
const secret = [
  ...['LETHE_API_KEY', 'LETHE_STORE', 'LETHE_LIMITER', 'LETHE_PUBLIC_URL', 'LETHE_URL', 'LETHE_SECRET_FILE'],
  'LETHE_OIDC_CLIENT_SECRET_FILE',
]

for (const variable of Object.keys(variables)) {
  describe(variable, () => {
    it('accepts documented values', () => {
      const cases = good[variable] ?? []
      assert.ok(cases.length > 0, `no good value of ${variable} is tested`)
      for (const [text, part] of cases) {
        assert.partialDeepStrictEqual(readConfig({ ...besides(variable), [variable]: text }), part, text)
      }
    })

    it('rejects other values in one line with its name, the value and the accepted values', () => {
      const cases = bad[variable] ?? []
      assert.ok(cases.length > 0, `no bad value of ${variable} is tested`)
      const accepts = Object.entries(variables).find(([name]) => name === variable)?.[1].accepts ?? ''
      for (const value of cases) {
        const message = refusal(variable, value)
        assert.ok(message.startsWith(`${variable} is `), message)
        assert.ok(message.includes(accepts), message)
        assert.doesNotMatch(message, /\n/)
        if (secret.includes(variable)) assert.ok(!message.includes(JSON.stringify(value)), 'it is repeated')
        else if (!value.includes('//')) assert.ok(message.includes(JSON.stringify(value)), message)
      }
    })
  })
}

describe('an identity provider', () => {
  it('needs a client ID, and is unset without an issuer', () => {
    const alone = { LETHE_OIDC_ISSUER: 'https://id.example' }
    assert.throws(() => readConfig(alone), /together with LETHE_OIDC_CLIENT_ID/)
    assert.equal(
      readConfig({ LETHE_OIDC_CLIENT_ID: 'lethe', LETHE_OIDC_ROLES: 'admin=x' }).singleSignOn,
      null,
    )
  })

  it('determines no roles unless they are mapped', () => {
    const env = { ...besides('LETHE_OIDC_ISSUER'), LETHE_OIDC_ROLE_CLAIM: 'roles' }
    assert.equal(readConfig(env).singleSignOn?.roles, null)
  })
})

describe('a rejected value', () => {
  for (const [what, url] of [
    ['', 'mysql://lethe:hunter2@db.example/lethe'],
    [' without a user', 'mysql://:hunter2@db.example/lethe'],
    [' with a slash in it', 'mysql://lethe:x/hunter2@db.example/lethe'],
    [' with an @ in it', 'mysql://lethe:x@hunter2@db.example/lethe'],
    [' in the query', 'mysql://db.example/lethe?user=lethe&password=hunter2'],
    [' when it is misspelt', 'mysql:/lethe:hunter2@db.example/lethe'],
  ] as const) {
    it(`is repeated without its password${what}`, () => {
      for (const variable of ['LETHE_STORE', 'LETHE_LIMITER', 'LETHE_URL']) {
        const message = refusal(variable, url)
        assert.doesNotMatch(message, /hunter2/)
        assert.match(message, /"mysql:\//, 'what it got can still be recognised')
      }
    })
  }

  for (const url of [
    ...'redis://lethe:hunter2@cache.example/one redis://:hunter2@cache.example?db=1'.split(' '),
    ...'rediss://:x/hunter2@cache.example redis://:hunter2@'.split(' '),
    ...'redis+sentinel://:hunter2@cache.example'.split(' '),
    ...'redis+sentinel://cache.example?password=hunter2 redis:/:hunter2@cache.example'.split(' '),
    ...'redis:lethe:hunter2@cache.example lethe:hunter2@cache.example:6379'.split(' '),
  ]) {
    it(`is repeated without its password: ${url.replace('hunter2', '…')}`, () => {
      const message = refusal('LETHE_LIMITER', url)
      assert.doesNotMatch(message, /hunter2/)
      assert.match(message, /^LETHE_LIMITER is ("rediss?(\+sentinel)?:\/\/?…"|a value that is not shown)/)
    })
  }

  for (const text of [
    ...['host=db.example user=lethe password=hunter2', 'password=hunter2'],
    ...['db.example:5432:lethe:lethe:hunter2', 'lethe/hunter2', 'hunter2'],
    ...['sqlite:data/lethe.db?key=hunter2'],
  ]) {
    it(`is not repeated at all if it may be a password: ${text.replace('hunter2', '…')}`, () => {
      for (const variable of ['LETHE_STORE', 'LETHE_LIMITER', 'LETHE_URL', 'LETHE_PUBLIC_URL']) {
        const env = { [variable]: text }
        const told = `${refusal(variable, text)} ${JSON.stringify(explainConfig(env))}`
        assert.doesNotMatch(told, /hunter2|lethe\//)
        assert.match(told, /not shown because it may contain a password/)
      }
      assert.throws(
        () => readStoreAddress('--from', text),
        (error: Error) => {
          assert.match(error.message, /^--from is a value that is not shown/)
          assert.doesNotMatch(error.message, /hunter2/)
          return true
        },
      )
    })
  }

  it('is not shown if it may be the secret of a client in place of its path', () => {
    const settings = explainConfig({ LETHE_OIDC_CLIENT_SECRET_FILE: 'hunter2' })
    const shown = settings.find(({ variable }) => variable === 'LETHE_OIDC_CLIENT_SECRET_FILE')
    assert.equal(shown?.value, '…')
    assert.doesNotMatch(JSON.stringify(settings), /hunter2/)
  })

  it('stays on one line, whatever it contains', () => {
    for (const variable of ['LETHE_HOST', 'LETHE_PORT', 'LETHE_LIMIT_IP']) {
      assert.match(refusal(variable, 'first\nsecond\u001b[2J'), /^[^\p{Cc}]+$/u)
    }
  })
})

describe('the trusted proxies', () => {
  // A range that is parsed differently than intended would trust the wrong proxies.
  for (const range of ['10/8', '10.1/16', '012.0.0.1/8', '0x0a.0.0.0/8']) {
    it(`cannot be the abbreviated or octal range ${range}, which is ambiguous`, () => {
      assert.match(refusal('LETHE_TRUSTED_PROXIES', range), /^LETHE_TRUSTED_PROXIES is /)
    })
  }

  for (const range of ['0.0.0.0/0', '::/0', '10.0.0.0/8', 'fd00::/8', '::ffff:10.0.0.0/104', '192.0.2.1']) {
    it(`either reject ${range} with the variable’s name, or the service starts with it`, () => {
      let proxies: string[]
      try {
        proxies = readConfig({ LETHE_TRUSTED_PROXIES: range }).trustedProxies
      } catch (error) {
        assert.ok(error instanceof ConfigError)
        return
      }
      assert.doesNotThrow(() => clientAddress(proxies))
    })
  }
})

describe('an unknown variable that starts with LETHE_', () => {
  for (const [name, nearest] of [
    ['LETHE_STOER', 'LETHE_STORE'],
    ['LETHE_LIMIT_ERASURES', 'LETHE_LIMIT_ERASURE'],
    ['LETHE_RETENTION', 'LETHE_RETENTION_DAYS'],
    ['LETHE_', 'LETHE_URL'],
  ] as const) {
    it(`prevents startup: ${name} may be ${nearest}`, () => {
      assert.equal(refusal(name, 'hunter2'), `${name} is not a variable of Lethe; the nearest is ${nearest}.`)
    })
  }

  it('is rejected even if it is empty, and before an invalid value of another', () => {
    assert.throws(() => readConfig({ LETHE_PROT: '', LETHE_PORT: 'x' }), /LETHE_PROT .* LETHE_PORT\./)
  })

  it('is on one line, whatever its name contains', () => {
    assert.equal(refusal('LETHE_\n\u001b[31m', 'x').includes('\n'), false)
  })

  it('may be for the tests, which have their own prefix', () => {
    assert.deepEqual(
      readConfig({ LETHE_TEST_SEED: '7', LETHE_TEST_POSTGRES: 'postgres://a' }),
      readConfig({}),
    )
  })

  it('must have exactly this prefix', () => {
    assert.deepEqual(readConfig({ LETHEAN: '1', MY_LETHE_STORE: 'x' }), readConfig({}))
  })
})
