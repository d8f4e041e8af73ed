import type { Identifier } from '@lethe/client'
import { InvalidArgumentError, Option } from 'commander'
import {
  identifierNameRule,
  identifierValueRule,
  isIdentifierName,
  isIdentifierValue,
} from '../../domain/subject-identifier.ts'

export function byOption(description: string): Option {
  return new Option('--by <identifier>', `${description}, such as email=ada@example.com`).argParser(
    readIdentifier,
  )
}

/** An identifier as somebody types it: `email=ada@example.com`. */
export function readIdentifier(text: string): Identifier {
  const equals = text.indexOf('=')
  const [name, value] = [text.slice(0, equals), text.slice(equals + 1)]
  if (equals < 0 || !isIdentifierName(name) || !isIdentifierValue(value)) {
    throw new InvalidArgumentError(
      `It takes name=value, such as email=ada@example.com. A name is ${identifierNameRule}; a value, ${identifierValueRule}.`,
    )
  }
  return { name, value }
}
