import type { LedgerRecord } from '../../client/src/ledger-record.ts'
import { VerificationError } from '../../client/src/verification-error.ts'
import { type VerifiedReceipt, verifyReceipt } from '../../client/src/verify-receipt.ts'

const form = find('form', HTMLFormElement)
const result = find('result', HTMLElement)
const receipt = find('receipt', HTMLTextAreaElement)
const keys = find('keys', HTMLTextAreaElement)
const tracker = find('tracker', HTMLInputElement)
const subject = find('subject', HTMLInputElement)

/** Counts verifications, so that an outdated result is not shown. */
let asked = 0

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void verify()
})
form.addEventListener('input', () => {
  asked++
  result.replaceChildren()
})

async function verify(): Promise<void> {
  const mine = ++asked
  const shown = await outcome()
  if (mine === asked) result.replaceChildren(shown)
}

async function outcome(): Promise<HTMLElement> {
  try {
    // Copying easily loses the final newline or adds a space.
    const verified = await verifyReceipt(`${receipt.value.trim()}\n`, {
      verifierKeys: keys.value.split(/\s+/).filter((key) => key !== ''),
      ...(tracker.value !== '' && { trackerId: tracker.value }),
      ...(subject.value !== '' && { subjectId: subject.value }),
    })
    return verdict('verified', 'Verified', ...explanation(verified))
  } catch (error) {
    const isRefused = error instanceof VerificationError && error.reason !== 'unsupported'
    const message = paragraph(error instanceof Error ? error.message : String(error))
    return isRefused
      ? verdict('refused', 'Not verified', message)
      : verdict('unknown', 'This browser cannot verify receipts', message)
  }
}

function explanation({ record, index, checkpoint, isSubjectProven }: VerifiedReceipt): HTMLElement[] {
  const whose = isSubjectProven
    ? 'The data subject ID matches.'
    : 'It is not proven whose data it was, because you entered no data subject ID.'
  return [
    paragraph(`The ledger records that ${statement(record)}. ${whose}`),
    facts({
      ...(record.version === 1
        ? { 'Erased at': record.erasedAt, Tracker: record.trackerId }
        : { 'Checked at': record.checkedAt }),
      Ledger: checkpoint.origin,
      // People count from 1, the tree from 0.
      'Ledger entry': `No. ${index + 1} of ${checkpoint.size}`,
      'Root hash': checkpoint.rootHash,
      'Signed by': checkpoint.verifiedBy.join('\n'),
    }),
  ]
}

function statement(record: LedgerRecord): string {
  if (record.version === 2) return 'nothing was held about a person in any tracker'
  if (record.alreadyErased) return 'no data about the data subject was stored'
  const { sessions, events } = record.counts
  return `all data about the data subject was erased: sessions ${sessions}, events ${events}`
}

function verdict(kind: string, title: string, ...parts: HTMLElement[]): HTMLElement {
  const box = document.createElement('div')
  box.className = kind
  box.append(withText('h2', title), ...parts)
  return box
}

function facts(values: Record<string, string>): HTMLElement {
  const list = document.createElement('dl')
  for (const [name, value] of Object.entries(values)) list.append(withText('dt', name), withText('dd', value))
  return list
}

function paragraph(text: string): HTMLElement {
  return withText('p', text)
}

function withText(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag)
  element.textContent = text
  return element
}

function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`The page has no ${id}.`)
  return element
}
