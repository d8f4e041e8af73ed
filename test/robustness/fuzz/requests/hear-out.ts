import type { Answer } from '../../../support/documented.ts'
import { openRawConnection } from '../../../support/raw-http.ts'

/** Says something, and nothing more, and hears the server out until it closes. */
export async function hearOut(url: string, text: string): Promise<Answer[]> {
  const connection = await openRawConnection(url)
  connection.send(text)
  connection.finish()
  const answers: Answer[] = []
  for (;;) {
    const answer = await connection.answerOrEnd()
    if (answer === null) return answers
    answers.push(answer)
  }
}
