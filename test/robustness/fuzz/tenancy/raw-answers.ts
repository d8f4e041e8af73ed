import { openRawConnection, requestText } from '../../../support/raw-http.ts'

/** Every byte of the answer to one request, but for what tells the time and what is left of a budget. */
export async function rawAnswer(
  url: string,
  target: string,
  method: string,
  authorization: string | null,
): Promise<string> {
  const connection = await openRawConnection(url)
  const headers: [string, string][] = [
    ['X-Request-Id', 'same'],
    ['Connection', 'close'],
  ]
  if (authorization !== null) headers.push(['Authorization', authorization])
  connection.send(requestText(target, { method, headers }))
  const text = await connection.rest()
  return text
    .replace(/^(Date|X-RateLimit-Remaining|X-RateLimit-Reset): .*$/gm, '$1: any')
    .replace(/"timestamp":"[^"]*"/, '"timestamp":"any"')
}
