import { after, describe, test } from 'node:test'
import { deleteOrganisation } from '../../src/operations/organisation.ts'
import { deleteTracker } from '../../src/operations/tracker.ts'
import { dataOf, errorOf } from '../support/answers.ts'
import { emptyStore } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'
import { startTestService } from '../support/service.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'

const lifetime = inReverse({ after })
const LETHE_STORE = await emptyStore(lifetime)
const shop = await startShop(lifetime, {
  scopes: ['analytics:view', 'analytics:delete-data'],
  env: { LETHE_STORE },
})
const { key, organisationId, services } = shop
/** Another process with the same store. */
const other = await startTestService(lifetime, { LETHE_STORE })

const tracker = await services.trackers.find('shop')
const organisation = await services.organisations.find(organisationId)
await shop.ingest(visit('anna'))

describe('the next request to any process', () => {
  test('finds no data of a deleted tracker, erasures included', async () => {
    for (const service of [shop, other]) dataOf(await service.ask(subjectPath('anna'), { key }))
    await deleteTracker(services, 'shop', tracker?.name ?? '')
    for (const service of [shop, other]) {
      for (const path of [subjectsPath, subjectPath('anna'), `${subjectPath('anna')}/events`]) {
        errorOf(await service.ask(path, { key }), 'not_found')
      }
      errorOf(await service.ask(subjectPath('anna'), { method: 'DELETE', key }), 'not_found')
    }
  })

  test('returns 401 for a key of a deleted organisation', async () => {
    for (const service of [shop, other]) errorOf(await service.ask(subjectsPath, { key }), 'not_found')
    await deleteOrganisation(services, organisationId, organisation?.name ?? '')
    for (const service of [shop, other]) errorOf(await service.ask(subjectsPath, { key }), 'unauthorized')
  })
})
