import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { after, describe, test } from 'node:test'
import { askRaw } from '../support/raw-http.ts'
import { startShop, subjectsPath } from '../support/shop.ts'

const env = {
  LETHE_LIMIT_IP: '1/minute',
  LETHE_TRUSTED_PROXIES: '127.0.0.1/32, 10.0.0.0/8, 2001:db8:ffff::/48',
}
const behindProxy = await startShop({ after }, { env, scopes: ['analytics:view'] })
const direct = await startShop({ after }, { env: { LETHE_LIMIT_IP: '1/minute' }, scopes: ['analytics:view'] })

type Forwarded = string | readonly string[]

/** Whether requests with these values of `X-Forwarded-For` count against the same address. */
async function countTogether(shop: typeof direct, one: Forwarded, other: Forwarded): Promise<boolean> {
  shop.passTime(60_000)
  const ask = async (forwarded: Forwarded) => {
    const headers = [forwarded].flat().map((value): [string, string] => ['X-Forwarded-For', value])
    return (await askRaw(shop.url, subjectsPath, { headers })).status
  }
  assert.equal(await ask(one), 401)
  const status = await ask(other)
  assert.ok(status === 401 || status === 429)
  return status === 429
}

describe('addresses forwarded by a trusted proxy', () => {
  const rows: [what: string, one: Forwarded, other: Forwarded, together: boolean][] = [
    ['the same IPv4 address', '203.0.113.1', '203.0.113.1', true],
    ['two IPv4 addresses', '203.0.113.1', '203.0.113.2', false],
    ['an IPv4 address and the same mapped into IPv6', '203.0.113.1', '::ffff:203.0.113.1', true],
    ['the same in hexadecimal', '203.0.113.1', '::ffff:cb00:7101', true],
    ['two mapped IPv4 addresses', '::ffff:203.0.113.1', '::ffff:203.0.113.2', false],
    ['two addresses of one /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['two ways to write one IPv6 address', '2001:db8:1:2::1', '2001:0DB8:0001:0002:0:0:0:1', true],
    ['two /64 of one /48', '2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['a longer chain and a shorter one', '198.51.100.9, 203.0.113.1', '192.0.2.7,203.0.113.1', true],
    ['an address forwarded by several trusted proxies', '203.0.113.1, 10.1.2.3', '203.0.113.1', true],
    ['an address forwarded by a trusted IPv6 proxy', '203.0.113.1, 2001:db8:ffff::7', '203.0.113.1', true],
    ['clients of another trusted proxy', '203.0.113.1, 10.1.2.3', '203.0.113.2, 10.1.2.3', false],
    ['two header lines and one', ['203.0.113.1', '10.1.2.3'], '203.0.113.1, 10.1.2.3', true],
    ['no spaces and many spaces', '203.0.113.1,10.1.2.3', '203.0.113.1   ,   10.1.2.3', true],
  ]
  for (const [what, one, other, together] of rows) {
    test(`count ${together ? 'together' : 'apart'}: ${what}`, async () => {
      assert.equal(await countTogether(behindProxy, one, other), together)
      assert.equal(await countTogether(behindProxy, other, one), together)
    })
  }

  for (const garbage of [
    ...['', 'unknown', '_hidden', '203.0.113', '203.0.113.256', '0x7f.1', 'localhost', '2001:db8::g', '1'],
    ...[
      '203.0.113.1:8080',
      '[2001:db8::1]',
      '203.0.113.1/24',
      ',,,',
      ', ',
      '\xff\xfe',
      "'; --",
      'x'.repeat(5_000),
    ],
  ]) {
    test(`count as the proxy if they are invalid: ${JSON.stringify(garbage).slice(0, 30)}`, async () => {
      assert.equal(await countTogether(behindProxy, garbage, []), true)
      assert.equal(await countTogether(behindProxy, garbage, '203.0.113.1'), false)
    })
  }

  test('count only if a trusted proxy wrote them, not if the client did', async () => {
    const forged = ['1.2.3.4, 203.0.113.1', '5.6.7.8, 203.0.113.1'] as const
    assert.equal(await countTogether(behindProxy, ...forged), true)
    assert.equal(await countTogether(behindProxy, '10.0.0.1, 203.0.113.1', '203.0.113.1'), true)
    assert.equal(await countTogether(behindProxy, '127.0.0.1, 203.0.113.1', '203.0.113.1'), true)
  })
})

describe('forwarded headers from other peers', () => {
  test('are ignored', async () => {
    assert.equal(await countTogether(direct, '203.0.113.1', '203.0.113.2'), true)
    assert.equal(await countTogether(direct, '203.0.113.1', []), true)
    assert.equal(await countTogether(direct, '127.0.0.1, ::1', 'garbage'), true)
  })

  test('are ignored under other names too', async () => {
    behindProxy.passTime(60_000)
    const statuses = []
    for (const [name, value] of [
      ['Forwarded', 'for=203.0.113.1'],
      ['X-Real-IP', '203.0.113.2'],
      ['CF-Connecting-IP', '203.0.113.3'],
      ['True-Client-IP', '203.0.113.4'],
      ['X-Client-IP', '203.0.113.5'],
    ] as const) {
      statuses.push((await askRaw(behindProxy.url, subjectsPath, { headers: [[name, value]] })).status)
    }
    assert.deepEqual(statuses, [401, 429, 429, 429, 429])
  })
})

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

describe('a listener on IPv6', { skip: hasIpv6 ? false : 'this machine has no IPv6' }, () => {
  test('recognizes IPv4 peers, trusted proxies included', async (t) => {
    const own = await startShop(t, { env: { ...env, LETHE_HOST: '::' }, scopes: ['analytics:view'] })
    const url = own.url.replace('[::]', '127.0.0.1')
    assert.equal(await countTogether({ ...own, url }, '203.0.113.1', '203.0.113.1'), true)
    assert.equal(await countTogether({ ...own, url }, '203.0.113.1', '203.0.113.2'), false)
    own.passTime(60_000)
    const ask = async (target: string) => (await askRaw(target, subjectsPath)).status
    assert.deepEqual(
      [await ask(url), await ask(own.url.replace('[::]', '[::1]')), await ask(url)],
      [401, 401, 429],
    )
  })
})
