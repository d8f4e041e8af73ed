import { isIdentifier } from '@lethe/client'
import { Argument, InvalidArgumentError } from 'commander'
import { identifierRule } from '../../domain/identifier.ts'

export function trackerArgument(name = '<tracker>'): Argument {
  return new Argument(name, 'the id of the tracker').argParser(readId)
}

export function subjectArgument(name = '<subject>'): Argument {
  return new Argument(name, 'the id of the data subject').argParser(readId)
}

export function readId(text: string): string {
  if (!isIdentifier(text)) throw new InvalidArgumentError(`An id is ${identifierRule}.`)
  return text
}
