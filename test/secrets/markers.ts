import assert from 'node:assert/strict'

/** Fails if a text contains a secret, unchanged or in a common encoding. */
export function assertAbsent(secrets: Record<string, string>, written: string | Buffer, where: string): void {
  const bytes = Buffer.from(written)
  for (const [what, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 8, `${what} is too short to be looked for`)
    for (const [form, text] of formsOf(secret)) {
      assert.ok(!bytes.includes(text), `${what} is in ${where}, ${form}`)
    }
  }
}

function formsOf(secret: string): [form: string, text: Buffer][] {
  const forms: [string, Buffer][] = [
    ['as it is', Buffer.from(secret)],
    ['in UTF-16', Buffer.from(secret, 'utf16le')],
    ['in hexadecimal digits', Buffer.from(Buffer.from(secret).toString('hex'))],
    ['percent-encoded', Buffer.from(encodeURIComponent(secret))],
  ]
  // The Base64 form depends on the offset of the secret; its first and last characters also on its neighbours.
  for (const before of [0, 1, 2]) {
    const whole = Buffer.from('.'.repeat(before) + secret)
    for (const encoding of ['base64', 'base64url'] as const) {
      forms.push([`in ${encoding}`, Buffer.from(whole.toString(encoding).replace(/=+$/, '').slice(4, -2))])
    }
  }
  return forms
}
