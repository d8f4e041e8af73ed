import type { SignedIn } from './types.ts'

export type Role = SignedIn['member']['role']

/** What members may do, from the least to the most. */
export const roles: readonly Role[] = ['viewer', 'desk', 'admin']

/** Whether a role allows what needs another one. */
export function may(role: Role, needed: Role = 'viewer'): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

export const roleTitles: Record<Role, string> = { viewer: 'Viewer', desk: 'Desk', admin: 'Admin' }

/** What a role may do. */
export const roleHints: Record<Role, string> = {
  viewer: 'Sees everything, and changes nothing.',
  desk: 'Sees everything, handles requests, and exports and erases data.',
  admin: 'Does everything, and manages members, keys, trackers and settings.',
}
