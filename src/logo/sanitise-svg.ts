import { SaxesParser } from 'saxes'
import { maxLogoBytes, maxLogoPixels } from '../domain/organisation-profile.ts'
import { isNoise, isPresentation, isTextElement, keptElement, keptValue, SvgStyles } from './svg-rules.ts'
import { UnusableLogo } from './unusable-logo.ts'

const svgNamespace = 'http://www.w3.org/2000/svg'
const xlinkNamespace = 'http://www.w3.org/1999/xlink'

interface Element {
  name: string
  attributes: Map<string, string>
  children: (Element | string)[]
}

export interface SafeSvg {
  text: string
  width: number
  height: number
  /** The names of elements and attributes that were removed, without those that draw nothing. */
  removed: string[]
}

/**
 * Writes an SVG again from the elements and attributes that are allowed. Nothing else of the file remains:
 * no comments, declarations, entities, processing instructions or text outside of text elements. Throws
 * `UnusableLogo` if it is not well-formed, or has no size.
 */
export function sanitiseSvg(source: string): SafeSvg {
  const reader = new SvgReader()
  reader.read(source)
  const { root, styles, removed } = reader
  if (root === null) throw new UnusableLogo('is not an SVG image')
  const { width, height, viewBox } = sizeOf(root.attributes)
  const size = { xmlns: svgNamespace, width: String(width), height: String(height), viewBox }
  const text = new SvgWriter(styles, removed).write(root, size)
  return { text, width, height, removed: [...removed].slice(0, maxReported) }
}

const maxReported = 20
const maxDepth = 100

/** Reads the allowed elements into a tree, and the style sheets. */
class SvgReader {
  root: Element | null = null
  readonly styles = new SvgStyles()
  readonly removed = new Set<string>()
  /** The open elements; `null` for one that does not remain, within which nothing does. */
  readonly #open: (Element | null)[] = []
  #sheet: string | null = null

  read(source: string): void {
    const parser = new SaxesParser({ xmlns: true, position: true })
    parser.on('error', ({ message }) => {
      if (message.includes('undefined entity'))
        throw new UnusableLogo(`uses an XML entity (line ${parser.line}); export it as plain SVG`)
      throw new UnusableLogo(`is not well-formed XML (line ${parser.line})`)
    })
    parser.on('opentag', ({ local, uri, attributes }) => this.#enter(local, uri, Object.values(attributes)))
    parser.on('closetag', () => this.#leave())
    parser.on('text', (text) => this.#addText(text))
    parser.on('cdata', (text) => this.#addText(text))
    parser.write(source).close()
  }

  #enter(
    local: string,
    uri: string,
    attributes: readonly { local: string; prefix: string; uri: string; value: string }[],
  ): void {
    if (this.#open.length === maxDepth) throw new UnusableLogo(`has more than ${maxDepth} levels of elements`)
    const around = this.#open.at(-1)
    const isSvg = uri === svgNamespace
    if (around === undefined && (!isSvg || local !== 'svg')) throw new UnusableLogo('is not an SVG image')
    if (isSvg && local === 'style' && around !== null) this.#sheet = ''
    const name = isSvg && (local !== 'svg' || around === undefined) ? keptElement(local) : null
    if (name === null || around === null) {
      if (isSvg && around !== null && !['style', 'metadata'].includes(local)) this.#report(local)
      this.#open.push(null)
      return
    }
    const element: Element = { name, attributes: new Map(), children: [] }
    for (const each of attributes) {
      if (each.prefix === '') element.attributes.set(each.local, each.value)
      else if (each.uri === xlinkNamespace && each.local === 'href' && !element.attributes.has('href'))
        element.attributes.set('href', each.value)
    }
    around?.children.push(element)
    this.root ??= element
    this.#open.push(element)
  }

  #leave(): void {
    this.#open.pop()
    if (this.#sheet === null || this.#open.at(-1) === null) return
    if (!this.styles.add(this.#sheet)) this.#report('style')
    this.#sheet = null
  }

  #addText(text: string): void {
    const around = this.#open.at(-1)
    if (around && isTextElement(around.name)) around.children.push(text)
    else if (this.#sheet !== null) this.#sheet += text
  }

  #report(name: string): void {
    this.removed.add(name.slice(0, 64))
  }
}

/** Elements whose content must not be clipped itself: nesting multiplies the work of drawing. */
const clipping = new Set(['clipPath', 'mask'])

class SvgWriter {
  readonly #styles: SvgStyles
  readonly #removed: Set<string>
  readonly #parts: string[] = []
  #length = 0

  constructor(styles: SvgStyles, removed: Set<string>) {
    this.#styles = styles
    this.#removed = removed
  }

  write(root: Element, size: Readonly<Record<string, string>>): string {
    this.#writeElement(root, false, Object.entries(size))
    return this.#parts.join('')
  }

  #writeElement(element: Element, isWithinClipping: boolean, first: [string, string][] = []): void {
    const isClipping = isWithinClipping || clipping.has(element.name)
    this.#add(`<${element.name}`)
    for (const [name, value] of [...first, ...this.#attributesOf(element, isClipping)])
      this.#add(` ${name}="${escapeText(value)}"`)
    if (element.children.length === 0) {
      this.#add('/>')
      return
    }
    this.#add('>')
    for (const child of element.children) {
      if (typeof child === 'string') this.#add(escapeText(child))
      else this.#writeElement(child, isClipping)
    }
    this.#add(`</${element.name}>`)
  }

  #attributesOf({ name: element, attributes }: Element, isClipping: boolean): Map<string, string> {
    const kept = new Map<string, string>()
    for (const [name, value] of [...attributes, ...this.#styles.for(element, attributes)]) {
      const isNested = isClipping && (name === 'clip-path' || name === 'mask')
      const safe = isNested ? null : keptValue(element, name, value)
      if (safe !== null) kept.set(name, safe)
      else if (isReported(element, name, value)) this.#removed.add(name.slice(0, 64))
    }
    return kept
  }

  #add(part: string): void {
    this.#length += part.length
    if (this.#length > maxLogoBytes)
      throw new UnusableLogo('has more than 64 KiB after its styles are resolved')
    this.#parts.push(part)
  }
}

function isReported(element: string, name: string, value: string): boolean {
  if (isNoise(name) || value.trim() === '') return false
  const isSize = element === 'svg' && ['width', 'height', 'viewBox', 'x', 'y'].includes(name)
  return !isSize && (isPresentation(name) || !['xml:space', 'xml:lang'].includes(name))
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character)
}

/** The size in pixels, at most `maxLogoPixels`, from the attributes of the root. */
function sizeOf(attributes: ReadonlyMap<string, string>): { width: number; height: number; viewBox: string } {
  const box = readBox(attributes.get('viewBox') ?? '')
  const [width, height] = [toPixels(attributes.get('width')), toPixels(attributes.get('height'))]
  const own = isSize(width) && isSize(height) ? { x: 0, y: 0, width, height } : null
  const full = own ?? box
  if (full === null) throw new UnusableLogo('has no size; give its svg element a viewBox')
  const scale = Math.min(1, maxLogoPixels / Math.max(full.width, full.height))
  const scaled = (length: number) => Math.max(1, Math.round(length * scale))
  const shown = box ?? full
  const viewBox = [shown.x, shown.y, shown.width, shown.height].join(' ')
  return { width: scaled(full.width), height: scaled(full.height), viewBox }
}

function readBox(text: string): { x: number; y: number; width: number; height: number } | null {
  const [x, y, width, height, ...more] = text
    .trim()
    .split(/[\s,]+/)
    .map(toNumber)
  if (typeof x !== 'number' || typeof y !== 'number' || more.length > 0) return null
  return isSize(width) && isSize(height) ? { x, y, width, height } : null
}

function toPixels(text = ''): number | null {
  return toNumber(text.trim().replace(/px$/, ''))
}

function toNumber(text: string): number | null {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?$/.test(text) ? Number(text) : null
}

function isSize(length: number | null | undefined): length is number {
  return typeof length === 'number' && length > 0 && length < 1e6
}
