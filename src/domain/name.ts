import { countCharacters } from './identifier.ts'
import type { Problems } from './problems.ts'

/** A name people gave: 1 to `maxLength` characters, something other than spaces, no control characters. */
export function checkName(name: string, maxLength: number, problems: Problems): void {
  if (
    name.trim() === '' ||
    countCharacters(name) > maxLength ||
    /\p{Cc}/u.test(name) ||
    !name.isWellFormed()
  ) {
    problems.add('name', `name must be 1 to ${maxLength} characters, no control characters`)
  }
}
