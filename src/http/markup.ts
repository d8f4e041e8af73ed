/** HTML. Only `html` creates it, and escapes everything that is not markup. */
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
