import { pathSegment } from './identifier.ts'

export function subjectsPath(trackerId: string): string {
  return `/v1/analytics/trackers/${pathSegment('trackerId', trackerId)}/subjects`
}

export function subjectPath(trackerId: string, subjectId: string): string {
  return `${subjectsPath(trackerId)}/${pathSegment('subjectId', subjectId)}`
}

export function batchesPath(trackerId: string): string {
  return `/v1/ingest/trackers/${pathSegment('trackerId', trackerId)}/batches`
}

export const requestsPath = '/v1/analytics/requests'

export function requestPath(requestId: string): string {
  return `${requestsPath}/${pathSegment('requestId', requestId)}`
}

export const searchPath = '/v1/analytics/subjects/search'

export const ledgerPath = '/v1/analytics/ledger'

export function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username ||
    url.password ||
    url.search ||
    url.hash
  ) {
    throw new TypeError('url must be an http or https address, without credentials, query or fragment.')
  }
  return url.href.replace(/\/+$/, '')
}

export function queryString(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

export function requestIdHeader(requestId: string | undefined): Record<string, string> {
  if (requestId === undefined) return {}
  if (!/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(requestId)) {
    throw new TypeError('requestId must be 1 to 200 printable ASCII characters.')
  }
  return { 'x-request-id': requestId }
}
