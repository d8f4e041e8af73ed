import assert from 'node:assert/strict'
import type { Answer } from '../../../support/documented.ts'
import { openRawConnection } from '../../../support/raw-http.ts'

/** A request as its bytes, and the method its answer depends on. */
export interface RequestBytes {
  text: string
  method: string
}

/**
 * Sends requests behind each other without waiting and reads an answer to each. Where the server closes, what is left is sent on a
 * new connection. A close may cost answers that were under way, so whoever got none is asked again alone, and must get one then.
 */
export async function askAll(url: string, requests: readonly RequestBytes[]): Promise<Answer[]> {
  const answers: Answer[] = []
  let isAlone = false
  while (answers.length < requests.length) {
    const before = answers.length
    const sent = requests.slice(before, isAlone ? before + 1 : requests.length)
    const connection = await openRawConnection(url)
    connection.send(sent.map(({ text }) => text).join(''))
    for (const { method } of sent) {
      const answer = await connection.answerOrEnd(method)
      if (answer === null) break
      answers.push(answer)
      if (answer.headers.get('connection') === 'close') break
    }
    connection.hangUp()
    const gotNone = answers.length === before
    assert.ok(!gotNone || !isAlone, 'the server closed without an answer')
    isAlone = gotNone
  }
  return answers
}
