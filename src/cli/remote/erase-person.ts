import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundSubject, Identifier, LetheClient, SubjectRef } from '@lethe/client'
import { fileJournal } from '@lethe/client/file-journal'
import { exportFileName } from '../../domain/export-file-name.ts'
import type { CommandKit } from '../command-kit.ts'
import { counted, countsInWords } from '../counted.ts'
import { legible } from '../legible.ts'
import { onStopSignal } from '../on-stop-signal.ts'
import { flagOrAnswer } from '../questions.ts'
import type { EraseFlags } from './erase-many.ts'
import { foundTable, hiddenInWords } from './subjects-find.ts'
import { writeWhole } from './whole-file.ts'
import { notConfirmed } from './with-client.ts'

/**
 * Erases all data subjects of a person: shows who was found, asks, and erases one after the other within the budget. With a journal,
 * whom it is about lies in a file beside it until all of them are gone: who is erased is not found again.
 */
export async function erasePerson(
  { terminal, fail, summarise }: CommandKit,
  client: LetheClient,
  identifier: Identifier,
  { journal, perHour, yes, dryRun, json, receipts }: EraseFlags,
): Promise<void> {
  const listFile = journal === undefined ? null : `${journal}.subjects`
  const isResumed = listFile !== null && existsSync(listFile)
  const { subjects, hidden } = isResumed ? await readList(listFile) : await find(client, identifier)
  const found = [...subjects, ...hidden]
  if (isResumed) terminal.tell(`Going on with the ${counted(found.length, 'subject')} in ${listFile}.`)
  else for (const line of [...foundTable(subjects), ...hiddenInWords(hidden.length)]) terminal.tell(line)
  if (dryRun || found.length === 0) {
    terminal.tell(found.length === 0 ? 'Nobody was found; nothing was erased.' : 'Nothing was erased.')
    if (json) summarise({ subjects, hidden, erasures: [], dryRun: dryRun ?? false })
    return
  }
  if (!yes) {
    const count = String(found.length)
    const question = `They cannot be brought back. Type how many will go, ${count}, to erase them: `
    if ((await flagOrAnswer(terminal, undefined, '--yes', question)).trim() !== count) throw notConfirmed()
  }
  if (listFile && !isResumed) await writeWhole(listFile, [JSON.stringify({ subjects, hidden })])
  const stop = new AbortController()
  const stopping = onStopSignal({
    onFirst: (signal) => stop.abort(new Error(`Stopped by ${signal} before the end; run it again to go on.`)),
  })
  const erasures: object[] = []
  let failures = 0
  try {
    const options = {
      ...{ erasuresPerHour: perHour, signal: stop.signal },
      journal: journal === undefined ? undefined : fileJournal(journal),
    }
    for await (const outcome of client.erasePerson(found, options)) {
      const { trackerId, subjectId } = outcome
      const name = `${legible(trackerId)} ${legible(subjectId)}`
      if (outcome.status === 'failed') {
        failures += 1
        terminal.tell(`${name}: ${outcome.error.message}`)
        continue
      }
      const { counts, receipt } = outcome.erasure
      erasures.push(outcome.erasure)
      if (receipts !== undefined) await keepReceipt(receipts, outcome, receipt)
      if (json) continue
      const isHidden = hidden.some((each) => each.trackerId === trackerId && each.subjectId === subjectId)
      terminal.print(`Erased ${name}: ${isHidden ? 'hidden data' : countsInWords(counts)}.`)
    }
  } finally {
    stopping.release()
    if (json) summarise({ subjects, hidden, erasures, dryRun: false })
  }
  if (failures > 0) fail()
  else if (listFile) await rm(listFile, { force: true })
}

/** Whom a search found: those it shows, and those that a shorter plan hides. */
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

/** What this command wrote; before there were hidden ones, it was a list. */
async function readList(file: string): Promise<Found> {
  const written: Found | FoundSubject[] = JSON.parse(await readFile(file, 'utf8'))
  return Array.isArray(written) ? { subjects: written, hidden: [] } : written
}

async function keepReceipt(
  folder: string,
  { trackerId, subjectId }: SubjectRef,
  text: string,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = exportFileName(trackerId, subjectId).replace(/json$/, 'receipt.txt')
  await writeWhole(join(folder, name), [text])
}
