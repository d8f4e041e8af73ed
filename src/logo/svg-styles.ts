import { isPresentation } from './svg-rules.ts'

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
