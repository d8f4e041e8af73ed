import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { assertRefused, jsonLines, onlyJson } from '../support/command-line.ts'
import { emails, recordNothingHeld } from '../support/nothing-held.ts'
import { startRemoteShop } from '../support/remote-shop.ts'
import { visit } from '../support/shop.ts'

async function withErased(t: TestContext) {
  const shop = await startRemoteShop(t)
  await shop.ingest(visit('anna', { events: 3 }))
  await shop.subjects(['erase', 'shop', 'anna', '--yes'])
  const receipts = (args: readonly string[]) => shop.cli.run(['receipts', ...args], { env: shop.env })
  const file = join(shop.cli.folder, 'receipt.txt')
  const vkey = (await receipts(['key'])).stdout.trim()
  return { ...shop, receipts, file, vkey }
}

describe('lethe receipts', { concurrency: true }, () => {
  it('writes a receipt to a file that verifies offline', async (t) => {
    const { receipts, file, vkey, cli } = await withErased(t)
    const got = await receipts(['get', 'shop', 'anna', '--output', file])
    assert.match(got.stdout, /^Wrote the receipt of the erasure at \S+Z to /)
    const args = ['receipts', 'verify', file, '--key', vkey, '--tracker', 'shop', '--subject', 'anna']
    const { code, stdout } = await cli.run(args)
    assert.match(
      stdout,
      /^The receipt is valid: at \S+Z the tracker shop erased this data subject: 1 session and 3 events\.\n/,
    )
    assert.match(stdout, /It is entry 1 of the ledger lethe\.local\/\S+, which had 1 entry/)
    assert.equal(code, 0)
    assert.partialDeepStrictEqual(onlyJson(await cli.run([...args, '--json'])), {
      index: 0,
      isSubjectProven: true,
      record: { trackerId: 'shop', counts: { sessions: 1, events: 3 } },
    })
    assertRefused(await receipts(['get', 'shop', 'anna', '--output', file]), 1, /already exists/)
  })

  it('says what is not verified without a subject, and rejects another subject', async (t) => {
    const { receipts, file, vkey } = await withErased(t)
    writeFileSync(file, (await receipts(['get', 'shop', 'anna'])).stdout)
    const verify = ['verify', file, '--key', vkey]
    assert.match((await receipts(verify)).stdout, /To also verify whose data was erased/)
    assertRefused(await receipts([...verify, '--subject', 'ben']), 1, /is not valid \(wrong_subject\)/)
    assertRefused(await receipts([...verify, '--tracker', 'blog']), 1, /wrong_tracker/)
    assertRefused(await receipts([...verify, '--json', '--subject', 'ben']), 1, /wrong_subject/)
    assertRefused(await receipts(['verify', file, '--key', 'nonsense']), 2, /--key/)
    assertRefused(await receipts(['verify', `${file}-none`, '--key', vkey]), 1, /ENOENT/)
    writeFileSync(file, readFileSync(file, 'utf8').replace('index 0', 'index 1'))
    assertRefused(await receipts(verify), 1, /not_included/)
  })

  it('verifies that no data is held about the identifier that was searched for', async (t) => {
    const { receipts, file, vkey, services, organisationId } = await withErased(t)
    const [proven] = await recordNothingHeld(services, organisationId, emails('ada@example.com'))
    writeFileSync(file, proven?.receipt ?? '')
    const verify = ['verify', file, '--key', vkey]
    const nothing = /^The receipt is valid: at \S+Z nothing was held about (a|this) person in any tracker\.\n/
    const whose = await receipts(verify)
    assert.match(whose.stdout, nothing)
    assert.match(whose.stdout, /To also verify whom it is about, use --identifier\./)
    const { stdout } = await receipts([...verify, '--identifier', 'email=ADA@example.com'])
    assert.match(stdout, nothing)
    assert.match(stdout, /about this person .*\n.*which had 2 entries when the receipt was signed\.\n$/)
    assert.partialDeepStrictEqual(onlyJson(await receipts([...verify, '--json'])), {
      index: 1,
      isSubjectProven: false,
      record: { kind: 'nothing-held', version: 2 },
    })
    assertRefused(await receipts([...verify, '--identifier', 'email=eva@example.com']), 1, /wrong_person/)
    assertRefused(await receipts([...verify, '--subject', 'ada@example.com']), 1, /wrong_kind/)
    assertRefused(await receipts([...verify, '--identifier', 'ada@example.com']), 2, /name=value/)
  })

  it('verifies a file with an extra newline, and accepts all keys of receipts key as one argument', async (t) => {
    const { receipts, file, vkey } = await withErased(t)
    writeFileSync(file, `${(await receipts(['get', 'shop', 'anna'])).stdout}\n`)
    const other = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
    for (const key of [vkey, `${vkey}\n`, `${other}\n${vkey}`]) {
      assert.equal((await receipts(['verify', file, '--key', key])).code, 0, key)
    }
    assertRefused(await receipts(['verify', file, '--key', ' ']), 2, /--key/)
  })

  it('prefers the receipt of the erasure that deleted data, and prints all as JSON', async (t) => {
    const { receipts, subjects } = await withErased(t)
    await subjects(['erase', 'shop', 'anna', '--yes'])
    const all = jsonLines((await receipts(['get', 'shop', 'anna', '--json'])).stdout)
    assert.deepEqual(
      all.map(({ alreadyErased }) => alreadyErased),
      [true, false],
    )
    assert.equal((await receipts(['get', 'shop', 'anna'])).stdout, all[1]?.receipt)
    await subjects(['erase', 'shop', 'nobody', '--yes'])
    assert.match((await receipts(['get', 'shop', 'nobody'])).stdout, /^c2sp\.org\/tlog-proof@v1\n/)
  })

  it('fails for a subject that was never erased', async (t) => {
    const { receipts } = await withErased(t)
    assertRefused(await receipts(['get', 'shop', 'ben']), 1, /There is no receipt/)
    assert.equal((await receipts(['get', 'shop', 'ben', '--json'])).stdout, '')
    assertRefused(await receipts(['get', 'nowhere', 'ben']), 1, /This tracker does not exist/)
    assertRefused(await receipts(['get', 'shop', 'anna', '--json', '--output', 'x']), 2, /--out/)
  })

  it('prints the verifier keys', async (t) => {
    const { receipts, vkey, organisationId } = await withErased(t)
    assert.ok(vkey.startsWith(`lethe.local/${organisationId}+`))
    assert.deepEqual(onlyJson(await receipts(['key', '--json'])), {
      origin: `lethe.local/${organisationId}`,
      verifierKeys: [vkey],
    })
  })
})
