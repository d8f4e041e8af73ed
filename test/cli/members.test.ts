import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertRefused, jsonLines, onlyJson } from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'

const create = ['members', 'create', '--org', 'acme', '--email', 'Ada@Acme.example']

const withOrganisation = preparedStore(runCommands(['orgs', 'create', '--name', 'Acme', '--id', 'acme']))

describe('lethe members', () => {
  it('create prints only a link, and explains it to people', async (t) => {
    const cli = await withOrganisation(t)
    const { code, stdout, stderr } = await cli.run(create, { env: { LETHE_PORT: '8080' } })
    assert.equal(code, 0)
    assert.match(stdout, /^http:\/\/127\.0\.0\.1:8080\/console\/join#[0-9A-Za-z]{43}\n$/)
    assert.match(
      stderr,
      /^With this link, ada@acme\.example can set a password\. It can be used once, until \S+Z/,
    )
    const token = stdout.trim().split('#')[1] ?? ''
    assert.equal(cli.holdsBytes(token), false, 'the store holds a hash of it alone')
  })

  it('create prints JSON, with the public address if there is one', async (t) => {
    const cli = await withOrganisation(t)
    const env = { LETHE_PUBLIC_URL: 'https://lethe.example' }
    const [made] = jsonLines((await cli.run([...create, '--json'], { env })).stdout)
    assert.deepEqual(Object.keys(made ?? {}), ['id', 'email', 'role', 'orgId', 'link', 'expiresAt'])
    assert.match(String(made?.link), /^https:\/\/lethe\.example\/console\/join#/)
    assert.equal(made?.orgId, 'acme')
  })

  it('create asks for missing options on a terminal, and fails in a script', async (t) => {
    const cli = await withOrganisation(t)
    const asked = await cli.run(['members', 'create'], { answers: ['acme', 'ada@acme.example'] })
    assert.deepEqual(asked.asked, ['Organisation ID: ', 'E-mail address: '])
    assert.equal(asked.code, 0)
    assert.equal((await cli.run(['members', 'create', '--org', 'acme'])).code, 2)
  })

  it('create rejects an invalid address and an unknown organisation', async (t) => {
    const cli = await withOrganisation(t)
    const bad = await cli.run(['members', 'create', '--org', 'acme', '--email', 'nobody'])
    assert.equal(bad.code, 1)
    assert.match(bad.stderr, /^error: email must be an e-mail address/)
    const nowhere = await cli.run(['members', 'create', '--org', 'none', '--email', 'a@b'])
    assert.equal(nowhere.stderr, 'error: There is no organisation "none".\n')
  })

  it('link replaces the link of a member', async (t) => {
    const cli = await withOrganisation(t)
    const link = ['members', 'link', '--org', 'acme', '--email', 'ada@acme.example']
    assert.equal((await cli.run(link)).code, 1)
    const [first, second] = [await cli.run(create), await cli.run(link)]
    assert.equal(second.code, 0)
    assert.notEqual(first.stdout, second.stdout)
    assert.equal(jsonLines((await cli.run(['members', 'list', '--org', 'acme', '--json'])).stdout).length, 1)
  })

  it('list shows each member, and whether they have joined', async (t) => {
    const cli = await withOrganisation(t)
    await cli.run(create)
    const people = await cli.run(['members', 'list', '--org', 'acme'])
    assert.match(
      people.stdout,
      /^ID +EMAIL +ROLE +PASSWORD SET +SINGLE SIGN-ON\nmem_\w{16} +ada@acme\.example +admin +not yet +not yet\n$/,
    )
    const [line] = jsonLines((await cli.run(['members', 'list', '--org', 'acme', '--json'])).stdout)
    assert.partialDeepStrictEqual(line, { email: 'ada@acme.example', orgId: 'acme', joinedAt: null })
    assert.equal((await cli.run(['members', 'list', '--org', 'none'])).code, 1)
  })

  it('disconnect removes the account at the identity provider, if there is one', async (t) => {
    const cli = await withOrganisation(t)
    await cli.run(create)
    const { code, stderr } = await cli.run(['members', 'disconnect', 'ada@acme.example', '--org', 'acme'])
    assert.equal(code, 1)
    assert.match(stderr, /ada@acme.example has not signed in by single sign-on/)
  })

  it('create sets a role, which set-role changes, and the last admin stays one', async (t) => {
    const cli = await withOrganisation(t)
    const invite = (email: string, ...rest: string[]) =>
      cli.run(['members', 'create', '--org', 'acme', '--email', email, '--json', ...rest])
    const set = (email: string, role: string) =>
      cli.run(['members', 'set-role', email, role, '--org', 'acme', '--json'])
    assertRefused(
      await invite('ada@acme.example', '--role', 'viewer'),
      1,
      /the first member must be an admin/,
    )
    assertRefused(await invite('ada@acme.example', '--role', 'owner'), 2, /viewer, desk, admin/)
    assert.equal(onlyJson(await invite('ada@acme.example')).role, 'admin')
    assert.equal(onlyJson(await invite('ben@acme.example')).role, 'viewer')
    assert.equal(onlyJson(await invite('cid@acme.example', '--role', 'desk')).role, 'desk')
    assertRefused(await set('ada@acme.example', 'desk'), 1, /The last admin/)
    assertRefused(await set('ada@acme.example', 'owner'), 2, /viewer, desk, admin/)
    const raised = onlyJson(await set('Ben@acme.example', 'admin'))
    assert.partialDeepStrictEqual(raised, { email: 'ben@acme.example', role: 'admin', orgId: 'acme' })
    assert.equal(onlyJson(await set('ada@acme.example', 'viewer')).role, 'viewer')
    const { stdout } = await cli.run(['activity', '--org', 'acme', '--kind', 'member.role-changed', '--json'])
    assert.deepEqual(
      jsonLines(stdout).map(({ target }) => target),
      ['ada@acme.example: admin → viewer', 'ben@acme.example: viewer → admin'],
    )
  })

  it('remove accepts an ID or address, asks for the address, and is in the activity', async (t) => {
    const cli = await withOrganisation(t)
    await cli.run(create)
    const invite = ['members', 'create', '--org', 'acme', '--json', '--email']
    const { id: ben } = onlyJson(await cli.run([...invite, 'ben@acme.example']))
    await cli.run([...invite, 'cid@acme.example'])
    const remove = (member: string, ...rest: string[]) =>
      cli.run(['members', 'remove', member, '--org', 'acme', ...rest])

    assertRefused(await remove(String(ben)), 2, /--email is missing/)
    assertRefused(await remove(String(ben), '--email', 'ada@acme.example'), 1, /nothing was removed/)
    assertRefused(await remove('mem_none', '--email', 'x@y'), 1, /There is no member mem_none in "acme"/)
    assertRefused(await remove('no@one', '--email', 'no@one'), 1, /There is no member no@one in "acme"/)
    const gone = await remove(String(ben), '--email', ' Ben@acme.example')
    assert.match(gone.stdout, /^Removed ben@acme\.example, who is signed out everywhere\./)
    const asked = await cli.run(['members', 'remove', 'CID@acme.example', '--org', 'acme', '--json'], {
      answers: ['cid@acme.example'],
    })
    assert.match(asked.asked[0] ?? '', /^cid@acme\.example will be signed out immediately/)
    assert.partialDeepStrictEqual(onlyJson(asked), { email: 'cid@acme.example', orgId: 'acme' })
    assertRefused(await remove('ada@acme.example', '--email', 'ada@acme.example'), 1, /The last admin/)

    const { stdout } = await cli.run(['activity', '--org', 'acme', '--kind', 'member.removed', '--json'])
    assert.deepEqual(
      jsonLines(stdout).map(({ target }) => target),
      ['cid@acme.example', 'ben@acme.example'],
    )
  })
})
