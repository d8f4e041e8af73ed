import { digestEntries } from '../../../client/src/digest-entries.ts'
import type { ExpectedPerson } from '../../../client/src/verify-receipt.ts'
import { facts, find, make } from './elements.ts'
import { maxReceipts, readFragment, readReceipts } from './read-receipts.ts'
import { factsOf, showSteps, statement } from './show-trace.ts'
import { type Trace, traceReceipt, type Verdict } from './trace-receipt.ts'

const form = find('form', HTMLFormElement)
const result = find('result', HTMLElement)
const announcement = find('announcement', HTMLElement)
const receipt = find('receipt', HTMLTextAreaElement)
const files = find('files', HTMLInputElement)
const keys = find('keys', HTMLTextAreaElement)
const tracker = find('tracker', HTMLInputElement)
const subject = find('subject', HTMLInputElement)
const identifierName = find('identifier-name', HTMLInputElement)
const identifierValue = find('identifier-value', HTMLInputElement)
const linkNote = find('link-note', HTMLElement)

const maxBytes = 64 * 1024 * 1024

/** Counts verifications, so that an outdated result is not shown. */
let asked = 0
/** Counts changes of the receipt, so that files that take long to read do not replace a later one. */
let replaced = 0
/** The receipts whose steps are not shown yet, each with the function that shows them. */
const hidden = new Map<HTMLElement, () => void>()
/** The digest that the link names; `null` without one. */
let linked: string | null = null

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void verify()
})
form.addEventListener('input', (event) => {
  if (event.target === receipt) replaced++
  if (event.target !== files) clear()
})
receipt.addEventListener('paste', () => setTimeout(() => void verify()))
files.addEventListener('change', () => {
  if (files.files) void take(files.files)
})
document.addEventListener('dragover', (event) => {
  event.preventDefault()
  document.body.classList.add('dropping')
})
document.addEventListener('dragleave', (event) => {
  if (event.relatedTarget === null) document.body.classList.remove('dropping')
})
document.addEventListener('drop', (event) => {
  event.preventDefault()
  document.body.classList.remove('dropping')
  const { dataTransfer } = event
  if (dataTransfer && dataTransfer.files.length > 0) return void take(dataTransfer.files)
  const text = dataTransfer?.getData('text/plain') ?? ''
  if (text === '') return
  replaced++
  receipt.value = text
  void verify()
})
addEventListener('hashchange', readLink)
// A closed section is not printed.
addEventListener('beforeprint', () => {
  for (const fill of [...hidden.values()]) fill()
  for (const details of result.querySelectorAll('details')) details.open = true
})
readLink()

/** Shows what the link names, and fills in its keys. */
function readLink(): void {
  clear()
  const { digest, keys: ofLink } = readFragment(location.hash)
  linked = digest
  linkNote.hidden = digest === null && ofLink.length === 0
  const certificate =
    digest !== null &&
    'This link is from a certificate. The page checks that your receipts are those of the certificate.'
  const key =
    ofLink.length > 0 &&
    'The verifier key was filled in from the link. Compare it with the key that the organisation publishes.'
  linkNote.textContent = [certificate, key].filter(Boolean).join(' ')
  if (ofLink.length > 0) keys.value = ofLink.join('\n')
}

function clear(): void {
  asked++
  hidden.clear()
  result.replaceChildren()
  announcement.textContent = ''
}

async function take(list: FileList): Promise<void> {
  clear()
  const mine = ++replaced
  const chosen = [...list]
  const bytes = chosen.reduce((sum, { size }) => sum + size, 0)
  if (bytes > maxBytes)
    return show([verdictBox('refused', titles.refused, 'The file is too large for a receipt.')])
  const texts = await Promise.all(chosen.map((file) => file.text()))
  if (mine !== replaced) return
  receipt.value = texts.join('\n')
  await verify()
}

async function verify(): Promise<void> {
  clear()
  const mine = asked
  const shown = await outcome()
  if (mine === asked) show(shown)
}

function show(parts: HTMLElement[]): void {
  result.replaceChildren(...parts)
  // The heading is enough: a screen reader can read the rest at its own pace.
  announcement.textContent = result.querySelector('h2')?.textContent ?? ''
}

async function outcome(): Promise<HTMLElement[]> {
  const verifierKeys = keys.value.split(/\s+/).filter((key) => key !== '')
  const expected = expectedPerson()
  const receipts = readReceipts(receipt.value)
  if (receipts.length > maxReceipts)
    return [verdictBox('refused', titles.refused, `There are more than ${maxReceipts} receipts.`)]
  try {
    const traces: Trace[] = []
    for (const each of receipts) traces.push(await traceReceipt(each, verifierKeys, expected))
    return await present(traces)
  } catch (error) {
    return [verdictBox('unknown', titles.unknown, error instanceof Error ? error.message : String(error))]
  }
}

function expectedPerson(): ExpectedPerson {
  const value = identifierValue.value
  return {
    ...(tracker.value !== '' && { trackerId: tracker.value }),
    ...(subject.value !== '' && { subjectId: subject.value }),
    ...(value !== '' && { identifier: { name: identifierName.value, value } }),
  }
}

const titles: Record<Verdict, string> = {
  verified: 'Verified',
  refused: 'Not verified',
  incomplete: 'The signature is not checked',
  unknown: 'This page cannot verify the receipt',
}

async function present(traces: readonly Trace[]): Promise<HTMLElement[]> {
  const digest = await digestOf(traces)
  const refused = linkMismatch(digest) ?? personMismatch(traces)
  const verdict = refused === null ? worstOf(traces) : 'refused'
  const box = verdictBox(verdict, titles[verdict], refused ?? sentenceFor(verdict, traces))
  if (linked !== null && verdict === 'verified')
    box.append(make('p', '', 'These are the receipts of the certificate in the link.'))
  // For people who opened the page without the link of their certificate.
  if (linked === null && digest !== null) box.append(facts({ 'Digest of the certificate': digest }))
  return [box, ...traces.map((trace, i) => section(trace, i, traces.length))]
}

function worstOf(traces: readonly Trace[]): Verdict {
  const verdicts = traces.map(({ verdict }) => verdict)
  const order = ['refused', 'unknown', 'incomplete'] as const
  return order.find((each) => verdicts.includes(each)) ?? 'verified'
}

function sentenceFor(verdict: Verdict, traces: readonly Trace[]): string {
  const [first] = traces
  if (verdict === 'incomplete')
    return 'The receipt is consistent in itself, but anyone could have made it. Enter the verifier key to check who signed it.'
  if (verdict === 'verified' && first?.record && traces.length === 1)
    return `The ledger records that ${statement(first.record)}. ${whose(first)}`
  if (verdict === 'verified') return `All ${traces.length} receipts are valid. ${whoseAll(traces)}`
  const bad = traces.filter((trace) => trace.verdict !== 'verified')
  const why = bad.find((trace) => trace.verdict === verdict)?.why ?? ''
  return traces.length === 1 ? why : `${bad.length} of ${traces.length} receipts cannot be verified. ${why}`
}

function whose({ person, record }: Trace): string {
  const isErasure = record?.version === 1
  if (person === 'proven') return isErasure ? 'The data subject ID matches.' : 'The identifier matches.'
  return isErasure
    ? 'It is not proven whose data it was, because you entered no data subject ID.'
    : 'It is not proven who the person is, because you entered no identifier.'
}

function whoseAll(traces: readonly Trace[]): string {
  const proven = traces.filter(({ person }) => person === 'proven').length
  return proven === 0
    ? 'It is not proven whom they are about, because you entered neither a data subject ID nor an identifier.'
    : `What you entered matches ${proven} of them.`
}

/**
 * Why none of the receipts is about the person that was entered; `null` if one is, or nothing was entered.
 */
function personMismatch(traces: readonly Trace[]): string | null {
  if (traces.some(({ verdict, person }) => verdict !== 'verified' || person === 'proven')) return null
  const other = traces.find(({ person }) => person === 'another')
  if (!other) return null
  return traces.length === 1 ? other.whyAnother : 'None of the receipts is about the person that you entered.'
}

/** The digest of all entries; `null` if a receipt cannot be read, or without the browser's cryptography. */
async function digestOf(traces: readonly Trace[]): Promise<string | null> {
  const parts = traces.flatMap((trace) => trace.parts ?? [])
  return parts.length < traces.length ? null : digestEntries(parts).catch(() => null)
}

/** Why the receipts are not those of the certificate in the link; `null` if they are, or without a link. */
function linkMismatch(digest: string | null): string | null {
  if (linked === null || digest === null || digest === linked) return null
  return 'These are not the receipts of the certificate in the link: they belong to another one, or some are missing.'
}

function verdictBox(kind: Verdict, title: string, sentence: string): HTMLElement {
  return make('div', `verdict ${kind}`, make('h2', '', title), make('p', '', sentence))
}

/** A receipt with its steps. They are made when they are shown, because a certificate may have thousands. */
function section(trace: Trace, i: number, count: number): HTMLElement {
  const { verdict } = trace
  const title = count === 1 ? 'Step by step' : `Receipt ${i + 1} of ${count}`
  const summary = make('summary', '', make('h3', '', title))
  if (count > 1) summary.append(' ', make('span', 'mark', titles[verdict]))
  const details = document.createElement('details')
  details.className = `receipt ${verdict}`
  details.append(summary)
  const fill = () => {
    if (hidden.delete(details)) details.append(factsOf(trace), showSteps(trace))
  }
  hidden.set(details, fill)
  details.addEventListener('toggle', fill)
  details.open = i === 0 || verdict === 'refused'
  if (details.open) fill()
  return details
}
