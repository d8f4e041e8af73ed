import { isRole, type Role, roles } from './member.ts'

/** Which values of the identity provider's claim give a role. `*` stands for any account. */
export type RoleMapping = readonly { role: Role; value: string }[]

/** From `admin=lethe-admins,viewer=*`; a role may be given several times. `null` if it is not valid. */
export function parseRoleMapping(text: string): RoleMapping | null {
  const mapping: { role: Role; value: string }[] = []
  for (const entry of text.split(',')) {
    const equals = entry.indexOf('=')
    const [role, value] = [entry.slice(0, equals).trim(), entry.slice(equals + 1).trim()]
    if (equals < 0 || !isRole(role) || value === '' || /\p{Cc}/u.test(value)) return null
    mapping.push({ role, value })
  }
  return mapping
}

/** The highest role that the values give; `null` if they give none. */
export function mappedRole(mapping: RoleMapping, values: readonly string[]): Role | null {
  const given = mapping.filter(({ value }) => value === '*' || values.includes(value))
  return roles.findLast((role) => given.some((each) => each.role === role)) ?? null
}
