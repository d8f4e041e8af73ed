import { isObject } from './json.ts'
import { html, type Markup } from './markup.ts'
import type { Operation, Outline } from './outline.ts'

/** A block of code under its own title. One that is too wide scrolls, and so can be reached with the keyboard. */
export function codeBlock(title: string, code: Markup): Markup {
  return html`<figure class="code"><figcaption>${title}</figcaption><pre tabindex="0" role="group" aria-label="${title}"><code>${code}</code></pre></figure>`
}

/** JSON as people read it, with its keys, texts and other values told apart. */
export function json(value: unknown): Markup {
  const lines = JSON.stringify(value, null, 2)
  const parts = lines.split(/("(?:[^"\\]|\\.)*"(?::)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*)/)
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : html`<span class="${kindOf(part)}">${part}</span>`))}`
}

function kindOf(part: string): string {
  if (part.endsWith('":')) return 'key'
  return part.startsWith('"') ? 'text' : 'value'
}

/** The command that sends an operation's request, with values that the document's examples have. */
export function curl(
  { method, path, scope, parameters, exampleBody }: Operation,
  values: ReadonlyMap<string, string>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? name)
  const query = parameters
    .filter(({ place, schema }) => place === 'query' && schema.default !== undefined)
    .map(({ name, schema }) => `${name}=${schema.default}`)
  const address = `"$LETHE_URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`
  return [
    method === 'GET' ? 'curl' : `curl -X ${method}`,
    ...(scope === null ? [] : ['-H "Authorization: Bearer $LETHE_API_KEY"']),
    ...(exampleBody === undefined ? [] : [`--json '${JSON.stringify(exampleBody)}'`]),
    address,
  ].join(' \\\n  ')
}

/** A value for each field that the examples of the answers have, the first one found. */
export function exampleValues({ groups }: Outline): Map<string, string> {
  const values = new Map<string, string>()
  function collect(value: unknown): void {
    if (Array.isArray(value)) value.forEach(collect)
    if (!isObject(value)) return
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && !values.has(name)) values.set(name, inner)
      collect(inner)
    }
  }
  for (const { operations } of groups)
    for (const { answers } of operations) for (const { example } of answers) collect(example)
  return values
}
