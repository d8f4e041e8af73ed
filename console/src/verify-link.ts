/** A link to the page that verifies receipts. Browsers do not send what follows the `#`. */
export function verifyLink(digest: string, verifierKey: string | undefined): string {
  // A percent sign of an escaped organisation ID is part of the key's name.
  const key = verifierKey === undefined ? '' : `&key=${verifierKey.replaceAll('%', '%25')}`
  return `${location.origin}/verify#sha256=${digest}${key}`
}
