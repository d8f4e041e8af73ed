import { dataOf, listIn, objectIn, textIn } from './answers.ts'
import type { ConsoleClient, ErasedPerson } from './console.ts'
import type { Answer } from './documented.ts'

/** A member's actions on requests, sent as the console sends them. */
export function requestDesk(client: Pick<ConsoleClient, 'ask'>) {
  const create = (kind: 'access' | 'erasure', person: ErasedPerson, fields: object = {}): Promise<Answer> => {
    const whole = { identifiers: [], subjects: [], ...person }
    return client.ask('/requests', { method: 'POST', body: { kind, person: whole, ...fields } })
  }
  return {
    create,
    /** Creates a request and returns its ID. */
    async open(kind: 'access' | 'erasure', person: ErasedPerson, fields: object = {}): Promise<string> {
      const page = dataOf(await create(kind, person, fields))
      return textIn(objectIn(page, 'request'), 'requestId')
    },
    change: (id: string, verb: string, body: object = {}): Promise<Answer> =>
      client.ask(`/requests/${id}/${verb}`, { method: 'POST', body }),
    page: async (id: string) => dataOf(await client.ask(`/requests/${id}`)),
    request: async (id: string) => objectIn(dataOf(await client.ask(`/requests/${id}`)), 'request'),
    /** The IDs on a page of the list. */
    async list(query = ''): Promise<string[]> {
      const rows = listIn(dataOf(await client.ask(`/requests${query}`)), 'rows')
      return rows.map((each) => textIn(objectIn(each, 'request'), 'requestId'))
    },
    /** The kinds of a request's activity, oldest first, without the prefix `request.`. */
    story: async (id: string) =>
      listIn(dataOf(await client.ask(`/requests/${id}`)), 'story').map((each) =>
        textIn(each, 'kind').slice(8),
      ),
    async records(
      id: string,
      after?: object,
    ): Promise<{ records: Record<string, unknown>[]; next: unknown }> {
      const body = after === undefined ? {} : { after }
      const found = dataOf(await client.ask(`/requests/${id}/records`, { method: 'POST', body }))
      return { records: listIn(found, 'records').map((each) => objectIn({ each }, 'each')), next: found.next }
    },
  }
}

export function ofEmail(value: string): ErasedPerson {
  return { identifiers: [{ name: 'email', value }] }
}
