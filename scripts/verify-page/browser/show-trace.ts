import type { LedgerRecord } from '../../../client/src/ledger-record.ts'
import { facts, make } from './elements.ts'
import type { Step, Trace } from './trace-receipt.ts'

/** How long all steps of a receipt take to appear at most. */
const maxMs = 6_000
const stepMs = 500

/** What a receipt says, once it is verified. */
export function statement(record: LedgerRecord): string {
  if (record.version === 2) return 'nothing was held about a person in any tracker'
  if (record.alreadyErased) return 'no data about the data subject was stored'
  const { sessions, events } = record.counts
  return `all data about the data subject was erased: sessions ${sessions}, events ${events}`
}

export function factsOf({ record, parts, head }: Trace): HTMLElement {
  return facts({
    ...(record?.version === 1 && { 'Erased at': record.erasedAt, Tracker: record.trackerId }),
    ...(record?.version === 2 && { 'Checked at': record.checkedAt, Trackers: 'all' }),
    ...(head && { Ledger: head.origin }),
    // People count from 1, the tree from 0.
    ...(head && parts && { 'Ledger entry': `No. ${parts.index + 1} of ${head.size}` }),
  })
}

/** The steps as a list that appears from top to bottom, unless the visitor prefers no motion. */
export function showSteps({ steps }: Trace): HTMLElement {
  const list = make('ol', 'steps')
  const pace = Math.min(stepMs, maxMs / steps.length)
  for (const [i, step] of steps.entries()) {
    const item = showStep(step)
    item.style.setProperty('--delay', `${Math.round(i * pace)}ms`)
    list.append(item)
  }
  return list
}

function showKey({ key, hasSigned }: NonNullable<Step['keys']>[number]): HTMLElement {
  const said = hasSigned ? 'Signed with this key' : 'Not signed with this key'
  return make('li', hasSigned ? 'signer' : '', make('span', 'mark', said), make('code', '', key))
}

const states = { passed: 'Passed', failed: 'Failed', open: 'Not checked' }

function showStep({ state, title, sentence, text, hashes, hash, keys }: Step): HTMLElement {
  const mark = make('span', 'mark', states[state])
  const item = make('li', state, make('h4', '', title, ' ', mark), make('p', '', sentence))
  const texts = text === undefined ? [] : [make('pre', '', text.trimEnd())]
  if (keys) item.append(make('div', 'pair signed', ...texts, make('ul', 'keys', ...keys.map(showKey))))
  else item.append(...texts)
  if (hash !== undefined) item.append(make('p', 'hash own', hash))
  if (hashes) {
    const { left, right, isLeftOwn, combined } = hashes
    item.append(
      make(
        'div',
        'pair',
        make('p', isLeftOwn ? 'hash own' : 'hash', left),
        make('p', isLeftOwn ? 'hash' : 'hash own', right),
      ),
      make('p', 'hash own combined', combined),
    )
  }
  return item
}
