import assert from 'node:assert/strict'

/** A command in a guide and its output. */
interface Exchange {
  command: string
  printed: string
}

/** Parses a block of a guide: commands after `$`, each followed by its output. */
export function readTranscript(block: string): Exchange[] {
  const exchanges: Exchange[] = []
  for (const line of block.trimEnd().split('\n')) {
    const last = exchanges.at(-1)
    if (line.startsWith('$ ')) exchanges.push({ command: line.slice(2), printed: '' })
    else if (last?.command.endsWith('\\') && last.printed === '') last.command += `\n${line}`
    else if (last) last.printed += `${line}\n`
    else assert.fail(`a block begins with output: ${line}`)
  }
  return exchanges
}

/** A truncated key or token. A rotation changes it, so it is learnt again from each output that shows it. */
const keyString = /lethe(?:var)?_[0-9A-Za-z]{16}_…/

/** Values that differ between runs: how they look in the guide, and the pattern for other output. */
const volatile: readonly { looks: RegExp; pattern: string; isName?: true }[] = [
  { looks: keyString, pattern: 'lethe(?:var)?_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}', isName: true },
  { looks: /(?=\w*\d)(?=\w*[A-Z])\b[0-9A-Za-z]{16}\b/, pattern: '[0-9A-Za-z]{16}', isName: true },
  { looks: /…\w{4}\b/, pattern: '…[0-9A-Za-z]{4}' },
  { looks: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, pattern: '[0-9a-f-]{36}' },
  { looks: /[0-9a-f]{64}|[0-9a-f]{32}/, pattern: '[0-9a-f]+' },
  { looks: /\d{4}-\d\d-\d\dT[\d:.]+Z/, pattern: '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z' },
  { looks: /\d+(?:\.\d)? (?:kB|MB|ms|s)\b/, pattern: '\\d+(?:\\.\\d)? (?:kB|MB|ms|s)' },
  { looks: /store version \d+/, pattern: 'store version \\d+' },
  { looks: /Copied \d+ rows/, pattern: 'Copied \\d+ rows' },
  { looks: /\b1[0-9]{9}\b/, pattern: '\\d{10}' },
  { looks: /"nextCursor": ?"[\w-]+"/, pattern: '"nextCursor": ?"[\\w-]+"' },
  { looks: /^…$/m, pattern: '[\\s\\S]*?' },
  { looks: /…/, pattern: '.*' },
]

/**
 * Maps the names of a guide (keys, IDs, addresses) to those of this run. A name is learnt from the first
 * output that shows it, and must be the same wherever the guide repeats it.
 */
export class Names {
  readonly #known: Map<string, string>

  constructor(known: Record<string, string>) {
    this.#known = new Map(Object.entries(known))
  }

  /** A command of the guide with the names of this run. */
  translate(command: string): string {
    return this.#byLength().reduce((text, [there, here]) => text.replaceAll(there, here), command)
  }

  /** Fails unless an output matches the guide, apart from values that differ between runs. */
  compare({ command, printed }: Exchange, output: string): void {
    const learnt: string[] = []
    const looks = new RegExp(
      [
        ...this.#byLength().map(([there]) => literally(there)),
        ...volatile.map(({ looks }) => looks.source),
      ].join('|'),
      'gm',
    )
    let pattern = ''
    let end = 0
    for (const { 0: found, index } of printed.matchAll(looks)) {
      pattern += literally(printed.slice(end, index)) + this.#pattern(found, learnt)
      end = index + found.length
    }
    // A guide does not show whether the last line has an ending.
    pattern += literally(printed.slice(end).trimEnd())
    // On a slow machine, a command may print its progress.
    const match = new RegExp(`^${pattern}\\n?$`).exec(output.replaceAll(/^.*\d%, .* left\n/gm, ''))
    assert.ok(match, `${command}\nprinted\n${output}\nwhere the guide shows\n${printed}`)
    for (const [index, name] of learnt.entries()) this.#known.set(name, match[index + 1] ?? '')
  }

  #pattern(found: string, learnt: string[]): string {
    const known = this.#known.get(found)
    if (known !== undefined && !keyString.test(found)) return literally(known)
    const kind = volatile.find(({ looks }) => new RegExp(`^(?:${looks.source})$`).test(found))
    if (!kind?.isName) return kind?.pattern ?? ''
    const seen = learnt.indexOf(found)
    if (seen >= 0) return `\\${seen + 1}`
    learnt.push(found)
    return `(${kind.pattern})`
  }

  /** Longest first, because a longer name may contain a shorter one. */
  #byLength(): [string, string][] {
    return [...this.#known].sort(([a], [b]) => b.length - a.length)
  }
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
