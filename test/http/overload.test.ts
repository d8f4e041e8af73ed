import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { tooBusy } from '../../src/domain/errors.ts'
import { budgetOf, dataOf, errorOf } from '../support/answers.ts'
import { startShop, subjectPath } from '../support/shop.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
const { key } = shop

test('an overloaded store fails a request immediately, with a 500 and not a 429', async () => {
  const { erase } = shop.services.subjects
  shop.services.subjects.erase = () => Promise.reject(tooBusy())
  const refused = await shop.ask(subjectPath('anna'), { key, method: 'DELETE' })
  shop.services.subjects.erase = erase
  errorOf(refused, 'internal_error')
  assert.equal(refused.headers.get('retry-after'), null)
  assert.ok(budgetOf(refused).remaining > 0)
  dataOf(await shop.ask(subjectPath('anna'), { key, method: 'DELETE' }))
})
