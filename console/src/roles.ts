import type { SignedIn } from './types.ts'

export type Role = SignedIn['member']['role']

/** What members may do, from the least to the most. */
export const roles: readonly Role[] = ['viewer', 'desk', 'admin']

/** Whether a role allows what needs another one. */
export function may(role: Role, needed: Role = 'viewer'): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}
