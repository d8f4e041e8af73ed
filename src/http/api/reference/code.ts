import { html, type Markup } from './markup.ts'
import type { Operation } from './outline.ts'

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

/** The command that sends an operation's request, with the examples of its parameters. */
export function curl({ method, path, scope, parameters, exampleBody }: Operation): string {
  const examples = parameters.filter(({ example }) => example !== null)
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => examples.find((each) => each.name === name)?.example ?? name,
  )
  const query = examples
    .filter(({ place }) => place === 'query')
    .map(({ name, example }) => `${name}=${example}`)
  const address = `"$LETHE_URL${filled}${query.length > 0 ? `?${query.join('&')}` : ''}"`
  return [
    method === 'GET' ? 'curl' : `curl -X ${method}`,
    ...(scope === null ? [] : ['-H "Authorization: Bearer $LETHE_API_KEY"']),
    ...(exampleBody === undefined ? [] : [`--json '${JSON.stringify(exampleBody)}'`]),
    address,
  ].join(' \\\n  ')
}
