/**
 * An address such as `postgres://…@db.example:5432/lethe?…`, as it may stand on a terminal or in a log: who signs in with which password,
 * and the parameters, which may hold one too, are left out. Of one in which it is not plain where they end, only the scheme is left.
 */
export function hideSecrets(address: string): string {
  const [scheme = ''] = /^[\w+.-]*:(?:\/\/)?/.exec(address) ?? []
  // Of several hosts, an address may have only one to be read as such.
  const [, first = address, others = ''] =
    /^([\w+.-]+:\/\/(?:[^/?#]*@)?[^@,/?#]*)(,[^@/?#]*)/.exec(address) ?? []
  const url = URL.parse(others === '' ? address : first + address.slice(first.length + others.length))
  // A password with a slash or a question mark in it ends the host too early, and the rest of it comes behind.
  if (!url || !scheme.endsWith('://') || /@/.test(url.pathname + url.search + url.hash)) return `${scheme}…`
  const signIn = url.username || url.password ? '…@' : ''
  const parameters = url.search || url.hash ? '?…' : ''
  return `${scheme}${signIn}${url.host}${others}${url.pathname}${parameters}`
}
