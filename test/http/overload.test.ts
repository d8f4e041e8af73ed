import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { tooBusy } from '../../src/domain/errors.ts'
import { budgetOf, dataOf, errorOf } from '../support/answers.ts'
import { startShop, subjectPath } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { key } = shop

test('a store that has too much to do refuses a request for a second, with no budget used up', async () => {
  const { erase } = shop.workplace.subjects
  shop.workplace.subjects.erase = () => Promise.reject(tooBusy())
  const refused = await shop.ask(subjectPath('anna'), { key, method: 'DELETE' })
  shop.workplace.subjects.erase = erase
  assert.match(String(errorOf(refused, 'rate_limited').message), /too much to do/)
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.ok(budgetOf(refused).remaining > 0)
  dataOf(await shop.ask(subjectPath('anna'), { key, method: 'DELETE' }))
})
