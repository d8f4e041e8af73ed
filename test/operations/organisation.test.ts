import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOrganisation, setPlan } from '../../src/operations/organisation.ts'
import { createTracker } from '../../src/operations/tracker.ts'
import { failure, noon, openDeps } from './fixture.ts'

const { deps } = openDeps()

describe('creating an organisation', () => {
  it('reports all problems together', async () => {
    const work = createOrganisation(deps(), { name: '', plan: 'gold', id: '..' })
    assert.deepEqual((await failure('validation_error', work)).fields, {
      name: 'name must be 1 to 128 characters, no control characters',
      id: 'id must be 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or a digit',
      plan: 'plan must be one of free, starter, pro, business',
    })
  })

  it('rejects an ID that is taken', async () => {
    const { id } = await createOrganisation(deps(), { name: 'Acme' })
    const work = createOrganisation(deps(), { name: 'Other', id })
    assert.deepEqual((await failure('validation_error', work)).fields, {
      id: `an organisation "${id}" already exists`,
    })
    assert.equal((await deps().organisations.find(id))?.name, 'Acme')
  })
})

describe('moving an organisation to a plan', () => {
  it('rejects an unknown plan', async () => {
    const { id } = await createOrganisation(deps(), { name: 'Acme' })
    const { fields } = await failure('validation_error', setPlan(deps(), id, 'gold'))
    assert.deepEqual(fields, { plan: 'plan must be one of free, starter, pro, business' })
    assert.equal((await deps().organisations.find(id))?.plan, 'free')
  })

  it('fails for an unknown organisation', async () => {
    await failure('not_found', setPlan(deps(), 'nobody', 'pro'))
  })
})

describe('creating a tracker', () => {
  it('generates an ID unless one is given', async () => {
    const { id: organisationId } = await createOrganisation(deps(), { name: 'Acme' })
    const tracker = await createTracker(deps(), { organisationId, name: 'Shop' })
    assert.match(tracker.id, /^trk_[0-9A-Za-z]{16}$/)
    assert.deepEqual(tracker, { id: tracker.id, organisationId, name: 'Shop', createdAt: noon })
    assert.deepEqual(await deps().trackers.list(organisationId), [tracker])
  })

  it('reports all problems together', async () => {
    const work = createTracker(deps(), { organisationId: 'nobody', name: '\n', id: '' })
    assert.deepEqual(Object.keys((await failure('validation_error', work)).fields), ['name', 'id'])
  })

  it('fails for an unknown organisation', async () => {
    await failure('not_found', createTracker(deps(), { organisationId: 'nobody', name: 'Shop' }))
  })
})
