/** HTML. Only `html` makes it, and it escapes whatever is not markup already. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = Markup | string | number | null | readonly Piece[]

export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Markup {
  return new Markup(strings.map((text, index) => text + write(pieces[index] ?? null)).join(''))
}

/** Text as the document has it: paragraphs, with `code` in backticks. */
export function prose(text: string): Markup {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`
}

/** One line of such text. */
export function inline(text: string): Markup {
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`
}

function write(piece: Piece): string {
  if (piece === null) return ''
  if (piece instanceof Markup) return piece.text
  if (typeof piece === 'string') return escaped(piece)
  return typeof piece === 'number' ? String(piece) : piece.map(write).join('')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}

export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object that must stand there, as the document is our own. */
export function object(value: unknown): Json {
  if (!isObject(value)) throw new Error('The OpenAPI document has no object where the reference needs one.')
  return value
}

/** The text that must stand there. */
export function text(value: unknown): string {
  if (typeof value !== 'string')
    throw new Error('The OpenAPI document has no text where the reference needs one.')
  return value
}

/** The list there, empty where there is none. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** Replaces every reference within a value by what it refers to. */
export function resolver(document: Json): (value: unknown) => Json {
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk)
    if (!isObject(value)) return value
    if (typeof value.$ref === 'string') return walk(follow(value.$ref))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]))
  }
  function follow(reference: string): unknown {
    return reference
      .split('/')
      .slice(1)
      .reduce<unknown>((inner, name) => object(inner)[name], document)
  }
  return (value) => object(walk(value))
}
