import fc from 'fast-check'

/** Ways to write a text into a URL; all but the last mean the text itself. */
export const encode: fc.Arbitrary<(text: string) => string> = fc.oneof(
  { arbitrary: fc.constant((text: string) => encodeURIComponent(text)), weight: 12 },
  { arbitrary: fc.constant(everyByte), weight: 1 },
  { arbitrary: fc.constant((text: string) => everyByte(text).toLowerCase()), weight: 1 },
  { arbitrary: fc.constant((text: string) => encodeURIComponent(encodeURIComponent(text))), weight: 1 },
)

function everyByte(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(
    '',
  )
}

/** What cannot be decoded: stray percent signs, overlong and truncated UTF-8, surrogates, what lies beyond Unicode. */
export const brokenEncoding = fc.constantFrom(
  ...[
    '%',
    '%2',
    '%zz',
    '%%20',
    '%u0041',
    '%C0%AF',
    '%c0%80',
    '%E0%80%AF',
    '%F0%80%80%AF',
    '%E2%82',
    '%80',
    '%FF',
    '%FE%FF',
  ],
  ...['%ED%A0%80', '%ED%BF%BF', '%F4%90%80%80', '%F8%88%80%80%80', '%C3%28'],
)

/** What does not belong into a URL at all, as bytes. */
export const strayBytes = fc.constantFrom(
  '\u00ff',
  '\u0080',
  '\u00c3\u00a4',
  '\u0000',
  '\t',
  ' ',
  '\u007f',
  '#',
  '#x',
  '\\',
  '"',
  '<>',
  '{}',
  '|',
  '^',
  '`',
)
