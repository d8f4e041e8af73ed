import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activityKinds } from '../../src/domain/activity.ts'
import { invitationMs } from '../../src/domain/member.ts'
import { maxPasswordLength, minPasswordLength } from '../../src/domain/password.ts'
import { idleTimeoutMs, maxSignInMs } from '../../src/domain/sign-in.ts'
import { consoleRoutes } from '../../src/http/console/routes.ts'
import { consoleBudgets } from '../../src/http/console/sign-in-cookie.ts'
import { countedSubjects } from '../../src/operations/tracker.ts'
import { flat, read, section } from './markdown.ts'

const page = read('docs/reference/console.md')
const text = flat(page)
const hourMs = 3_600_000

test('the console page states the limits of passwords, links and sign-ins', () => {
  assert.match(text, new RegExp(`a password of ${minPasswordLength} to ${maxPasswordLength} characters`))
  assert.equal(invitationMs, 24 * hourMs)
  assert.match(text, /It works once, for a day/)
  assert.deepEqual([idleTimeoutMs, maxSignInMs], [2 * hourMs, 7 * 24 * hourMs])
  assert.match(text, /ends after two hours without a request, and after a week at the latest/)
})

test('the console page states its budgets', () => {
  const { account, console, 'sign-in': signIn, strangers } = consoleBudgets
  assert.deepEqual([account.limit, signIn.limit, strangers.limit], [10, 30, 100])
  assert.deepEqual([account.windowMs, signIn.windowMs, strangers.windowMs], [hourMs / 4, hourMs / 4, hourMs])
  assert.match(text, /thirty attempts to sign in per quarter of an hour, ten of them on one account/)
  assert.match(text, /on one account are limited to a hundred an hour, 2,400 a day/)
  assert.equal(console.windowMs, 60_000)
  assert.match(text, new RegExp(`one of ${console.limit} a minute for each address`))
})

test('the console page states the limit up to which subjects are counted', () => {
  assert.match(text, new RegExp(`counted up to ${countedSubjects.toLocaleString('en')}`))
})

test('the console page mentions every kind of activity', () => {
  const activity = flat(section(page, 'Activity'))
  for (const kind of activityKinds) {
    const [, what = ''] = kind.split('.')
    const word = kind.startsWith('member.signed') ? 'sign-ins and their ends' : what.replaceAll('-', ' ')
    assert.ok(activity.includes(word.replace('sign in failed', 'failed attempts to sign in')), kind)
  }
})

test('every route of the console is below the path that the page states', () => {
  for (const { path } of consoleRoutes) assert.ok(path.startsWith('/console/api/'), path)
})
