import type { Command } from 'commander'
import type { CommandKit } from '../command-kit.ts'
import { addSubjectsErase } from './subjects-erase.ts'
import { addSubjectsExport } from './subjects-export.ts'
import { addSubjectsFind, addSubjectsList, addSubjectsShow } from './subjects-read.ts'

/** Commands that call a running service over HTTP with a key, like any other client, without the store. */
export function addSubjectsCommand(program: Command, kit: CommandKit): void {
  const subjects = program
    .command('subjects')
    .description('data subjects of a running service: list, show, find, export, erase')
  addSubjectsList(subjects, kit)
  addSubjectsShow(subjects, kit)
  addSubjectsFind(subjects, kit)
  addSubjectsExport(subjects, kit)
  addSubjectsErase(subjects, kit)
}
