import type { FoundSubject, Identifier, LetheClient, SubjectRef } from '@lethe/client'
import type { CommandKit } from '../command-kit.ts'
import { saveReceipts } from './requests-certificate.ts'
import { confirmCount, type EraseRequestFlags, eraseRequest, erasureInWords } from './requests-erase.ts'
import { foundTable, hiddenInWords } from './subjects-read.ts'
import { isRefusal } from './with-client.ts'

export interface ErasePersonFlags extends EraseRequestFlags {
  reference?: string
  receipts?: string
  dryRun?: true
}

/** Shows who was found, and erases all of them with a request. */
export async function erasePerson(
  { terminal, fail, summarise }: CommandKit,
  client: LetheClient,
  identifier: Identifier,
  { reference, receipts, dryRun, yes, wait, json }: ErasePersonFlags,
): Promise<void> {
  const found = await find(client, identifier)
  const count = found.subjects.length + found.hidden.length
  for (const line of [...foundTable(found.subjects), ...hiddenInWords(found.hidden.length)])
    terminal.tell(line)
  if (dryRun || count === 0) {
    terminal.tell(count === 0 ? 'Nobody was found. Nothing was erased.' : 'Nothing was erased.')
    if (json) summarise({ ...found, request: null, dryRun: dryRun ?? false })
    return
  }
  if (!yes) await confirmCount(terminal, count)
  const person = { identifiers: [identifier] }
  const request = await client.requests.create({ kind: 'erasure', person, reference })
  const erased = await eraseRequest(terminal, client, request, { wait }).catch(async (error: unknown) => {
    if (isRefusal(error, 'forbidden')) {
      // Otherwise it would stay open, and become due.
      await client.requests.cancel(request.requestId)
      terminal.tell(`Nothing was erased. The request ${request.requestId} was cancelled.`)
    }
    throw error
  })
  const { requestId, state } = erased
  if (receipts !== undefined && state === 'done')
    await saveReceipts(receipts, await client.requests.certificate(requestId))
  if (json) summarise({ ...found, request: erased, dryRun: false })
  else terminal.print(erasureInWords(erased))
  if (wait && state !== 'done') fail()
}

/** The result of a search: visible subjects, and those hidden by a shorter plan. */
interface Found {
  subjects: FoundSubject[]
  hidden: SubjectRef[]
}

async function find(client: LetheClient, identifier: Identifier): Promise<Found> {
  const found: Found = { subjects: [], hidden: [] }
  for await (const { subjects, hidden = [] } of client.searchSubjects({ identifier }).pages()) {
    found.subjects.push(...subjects)
    found.hidden.push(...hidden)
  }
  return found
}
