import { openRawConnection, requestText } from '../../../support/raw-http.ts'

/** Requests that differ in their targets alone. */
export interface Requests {
  targets: readonly string[]
  method: string
  authorization: string | null
}

/** Every byte of the answers to requests sent together on one connection, but for what tells the time and what is left of a budget. */
export async function rawAnswers(url: string, { targets, method, authorization }: Requests): Promise<string> {
  const connection = await openRawConnection(url)
  const headers: [string, string][] = [['X-Request-Id', 'same']]
  if (authorization !== null) headers.push(['Authorization', authorization])
  const last: [string, string] = ['Connection', 'close']
  const requests = targets.map((target, i) =>
    requestText(target, { method, headers: i + 1 < targets.length ? headers : [...headers, last] }),
  )
  connection.send(requests.join(''))
  const text = await connection.rest()
  return text
    .replace(/^(Date|RateLimit|X-RateLimit-Remaining|X-RateLimit-Reset): .*$/gm, '$1: any')
    .replace(/"timestamp":"[^"]*"/g, '"timestamp":"any"')
}
