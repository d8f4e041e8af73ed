/** The languages of documents and replies. */
export const languages = [
  ['en', 'English'],
  ['de', 'German'],
] as const

const outcomes: Record<string, string> = {
  received: 'Received',
  'more-information': 'More information needed',
  extended: 'Extended',
  'copy-ready': 'Copy ready',
  erased: 'Erased',
  'already-deleted': 'Already deleted',
  'nothing-held': 'Nothing held',
  rejected: 'Rejected',
}

/** The title of a reply text, such as that of `access.received`. */
export function replyTitle(name: string): string {
  return outcomes[name.split('.')[1] ?? ''] ?? name
}
