// What may remain in the SVG of a logo: shapes, gradients and clippings, with attributes that only describe
// them. There are no scripts, styles, links, animations, embedded documents or images, and no references to
// anything but gradients and clippings of the same file.

const shared = ['id', 'transform']

/** CSS properties that are also attributes. */
const presentation = [
  ...['fill', 'fill-opacity', 'fill-rule', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-linecap'],
  ...['stroke-linejoin', 'stroke-miterlimit', 'stroke-dasharray', 'stroke-dashoffset', 'opacity', 'color'],
  ...['display', 'visibility', 'clip-path', 'clip-rule', 'mask', 'mask-type', 'paint-order', 'vector-effect'],
  ...['stop-color', 'stop-opacity', 'font-family', 'font-size', 'font-weight', 'font-style', 'font-stretch'],
  ...['letter-spacing', 'word-spacing', 'text-anchor', 'dominant-baseline', 'text-decoration'],
]

const presentationNames = new Set(presentation)

const gradient = ['gradientUnits', 'gradientTransform', 'spreadMethod', 'href']
const text = ['x', 'y', 'dx', 'dy', 'rotate', 'textLength', 'lengthAdjust']
const box = ['x', 'y', 'width', 'height']

/** The elements that may remain, with their own attributes. */
const ownAttributes: Readonly<Record<string, readonly string[]>> = {
  svg: ['preserveAspectRatio'],
  ...{ g: [], defs: [], title: [], desc: [], stop: ['offset'] },
  ...{ path: ['d', 'pathLength'], rect: [...box, 'rx', 'ry'], circle: ['cx', 'cy', 'r'] },
  ...{ ellipse: ['cx', 'cy', 'rx', 'ry'], line: ['x1', 'y1', 'x2', 'y2'] },
  ...{ polyline: ['points'], polygon: ['points'], text, tspan: text },
  linearGradient: ['x1', 'y1', 'x2', 'y2', ...gradient],
  radialGradient: ['cx', 'cy', 'r', 'fx', 'fy', 'fr', ...gradient],
  clipPath: ['clipPathUnits'],
  mask: [...box, 'maskUnits', 'maskContentUnits'],
}

const attributesOf = new Map(
  Object.entries(ownAttributes).map(([name, own]) => [name, new Set([...shared, ...presentation, ...own])]),
)

/** Groups whose purpose does not remain, but their content does. */
const groups = ['a', 'switch']

/** The name under which an element remains; `null` if it does not. */
export function keptElement(name: string): string | null {
  if (groups.includes(name)) return 'g'
  return attributesOf.has(name) ? name : null
}

export function isTextElement(name: string): boolean {
  return ['title', 'desc', 'text', 'tspan'].includes(name)
}

export function isPresentation(name: string): boolean {
  return presentationNames.has(name)
}

/** Only the data of shapes may be longer. */
const maxValueLength = 400
const shapeData = new Set(['d', 'points'])

const id = /^[A-Za-z_][\w.-]*$/
const localReference = /^url\(\s*(["']?)#[A-Za-z_][\w.-]*\1\s*\)/
const referring = new Set(['fill', 'stroke', 'clip-path', 'mask'])
/** No colons, backslashes, semicolons, braces, at signs, ampersands or angle brackets. */
const harmless = /^[\p{L}\p{N}\s.,#%+\-_'"()/]*$/u
const functions = new Set(
  ['rgb', 'rgba', 'hsl', 'hsla', 'hwb', 'lab', 'lch', 'oklab', 'oklch'].concat([
    'matrix',
    'translate',
    'scale',
    'rotate',
    'skewX',
    'skewY',
  ]),
)

/** The value of an attribute as it may remain; `null` if it may not. */
export function keptValue(element: string, name: string, value: string): string | null {
  const trimmed = value.trim()
  if (trimmed === '' || attributesOf.get(element)?.has(name) !== true) return null
  if (name === 'id') return id.test(trimmed) ? trimmed : null
  if (name === 'href') return trimmed.startsWith('#') && id.test(trimmed.slice(1)) ? trimmed : null
  if (trimmed.length > maxValueLength && !shapeData.has(name)) return null
  const rest = referring.has(name) ? trimmed.replace(localReference, '') : trimmed
  return isHarmless(rest) ? trimmed : null
}

/** Whether a value has no other functions than colours and transformations, so that it loads nothing. */
function isHarmless(value: string): boolean {
  if (!harmless.test(value) || value.includes('//') || value.includes('/*')) return false
  const called = Array.from(value.matchAll(/([\w-]*)\s*\(/g), ([, name = '']) => name)
  return called.every((name) => functions.has(name))
}

/** What drawing programs add, and what is converted, is not worth reporting when it is removed. */
export function isNoise(attribute: string): boolean {
  return /^(?:class|style|version|xmlns|role|tabindex|focusable|baseProfile|data-.*|aria-.*)$/.test(attribute)
}

/** Declarations by the name of their property. */
type Declarations = ReadonlyMap<string, string>

/**
 * The rules of style sheets by their selector, as far as they have attributes of the same meaning. Only the
 * selectors of drawing programs are known: an element, a class or an ID.
 */
export class SvgStyles {
  readonly #rules = new Map<string, Map<string, string>>()

  /** Returns `false` if something in the style sheet is not known. */
  add(sheet: string): boolean {
    const css = sheet.replaceAll(/\/\*[\s\S]*?\*\//g, ' ')
    if (/[@\\]/.test(css)) return false
    let isKnown = true
    for (const [, selectors = '', body = ''] of css.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
      const declarations = readDeclarations(body)
      for (const selector of selectors.split(',').map((each) => each.trim())) {
        if (!/^[.#]?[A-Za-z_][\w-]*$/.test(selector)) {
          isKnown = false
          continue
        }
        const rule = this.#rules.get(selector) ?? new Map<string, string>()
        for (const [name, value] of declarations) rule.set(name, value)
        this.#rules.set(selector, rule)
      }
    }
    return isKnown
  }

  /** The declarations for an element, those of higher precedence last. */
  for(element: string, attributes: ReadonlyMap<string, string>): Declarations {
    const classes = new Set((attributes.get('class') ?? '').split(/\s+/).filter((name) => name !== ''))
    const selectors = [element, ...[...classes].map((name) => `.${name}`), `#${attributes.get('id') ?? ''}`]
    const found = new Map<string, string>()
    for (const declarations of [
      ...selectors.map((selector) => this.#rules.get(selector)),
      readDeclarations(attributes.get('style') ?? ''),
    ]) {
      for (const [name, value] of declarations ?? []) found.set(name, value)
    }
    return found
  }
}

function readDeclarations(text: string): Declarations {
  const declarations = new Map<string, string>()
  for (const declaration of text.split(';')) {
    const colon = declaration.indexOf(':')
    const name = declaration.slice(0, Math.max(colon, 0)).trim().toLowerCase()
    if (!isPresentation(name)) continue
    declarations.set(
      name,
      declaration
        .slice(colon + 1)
        .replace(/!\s*important\s*$/i, '')
        .trim(),
    )
  }
  return declarations
}
