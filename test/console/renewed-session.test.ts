import assert from 'node:assert/strict'
import { test } from 'node:test'
import { change, isSignedIn, onSignedOut, read } from '../../console/src/api.ts'

const answer = (status: number) => Response.json(status === 200 ? { data: {} } : {}, { status })

test('a request refused while a change renews the session waits for it before it checks the session', async (t) => {
  const asked: string[] = []
  const verified = Promise.withResolvers<Response>()
  let isRenewed = false
  t.mock.method(globalThis, 'fetch', async (path: string) => {
    asked.push(path.slice('/console/api'.length))
    return path.endsWith('/verification') ? verified.promise : answer(isRenewed ? 200 : 401)
  })
  onSignedOut(isSignedIn)
  const verification = change('/verification')
  const poll = read('/request-groups')
  await new Promise(setImmediate)
  assert.deepEqual(asked, ['/verification', '/request-groups'])
  isRenewed = true
  verified.resolve(answer(200))
  assert.deepEqual(await Promise.all([verification, poll]), [{}, {}])
  assert.deepEqual(asked.slice(2), ['/session', '/request-groups'])
})
