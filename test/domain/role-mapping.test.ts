import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mappedRole, parseRoleMapping } from '../../src/domain/role-mapping.ts'

test('the highest role of all matching values is used, in any order', () => {
  const mapping = parseRoleMapping('viewer=staff, admin=lethe-admins ,desk=privacy,desk=legal=eu') ?? []
  for (const [values, role] of [
    [['staff'], 'viewer'],
    [['lethe-admins', 'staff'], 'admin'],
    [['staff', 'legal=eu'], 'desk'],
    [['Staff', 'admins'], null],
    [[], null],
  ] as const) {
    assert.equal(mappedRole(mapping, values), role, String(values))
  }
})

test('an asterisk matches every account', () => {
  const mapping = parseRoleMapping('viewer=*,admin=boss') ?? []
  assert.equal(mappedRole(mapping, []), 'viewer')
  assert.equal(mappedRole(mapping, ['boss']), 'admin')
})

test('a mapping without a role, with an unknown role or without a value is invalid', () => {
  for (const text of ['', 'admin', 'admin=', '=x', 'owner=x', 'admin=x,', 'admin=x\ny']) {
    assert.equal(parseRoleMapping(text), null, JSON.stringify(text))
  }
})
