import { createReadStream } from 'node:fs'
import { isIdentifier } from '@lethe/client'
import { identifierRule } from '../../domain/identifier.ts'
import { readFailure } from '../decompress.ts'
import { splitLines } from '../split-lines.ts'

const chunkBytes = 256 * 1024

/**
 * The ids in a file, one a line, `-` for standard input; empty lines are passed over, spaces are part of an id. A line that can be no
 * id is an error: before something that cannot be undone, a damaged list is not guessed at.
 */
export async function readIdList(file: string): Promise<string[]> {
  const name = file === '-' ? 'standard input' : file
  const ids: string[] = []
  let number = 0
  const source = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes })
  try {
    for await (const lines of splitLines(source)) {
      for (const line of lines) {
        number += 1
        const id = typeof line === 'string' ? line.replace(/\r$/, '') : null
        if (id === '') continue
        if (!isIdentifier(id)) throw new BadIdList(`${name}:${number}: an id is ${identifierRule}.`)
        ids.push(id)
      }
    }
  } catch (error) {
    if (error instanceof BadIdList) throw error
    throw new Error(`Cannot read ${name}: ${readFailure(error)}.`, { cause: error })
  }
  if (ids.length === 0) throw new BadIdList(`There are no ids in ${name}.`)
  return [...new Set(ids)]
}

/** A list that will not do. */
class BadIdList extends Error {
  override name = 'BadIdList'
}
