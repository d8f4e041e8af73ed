/** The areas of the product that a scope can speak of. Only `analytics` has actions today. */
export const areas = [
  'analytics',
  'trackers',
  'variables',
  'uptime-monitors',
  'status-pages',
  'members',
  'api-keys',
  'billing',
] as const

/** Every scope an endpoint knows, with what it allows. No other can be granted. */
export const scopes = {
  'analytics:view': 'read collected analytics data: list data subjects and read what is stored about them',
  'analytics:delete-data': "erase a data subject's records, irreversibly",
} as const

export type Scope = keyof typeof scopes

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopes, text)
}

export function allScopes(): Scope[] {
  return Object.keys(scopes).filter(isScope)
}
