import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { linter, nextDiagnostic } from '@codemirror/lint'
import { Text } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { type CheckedDocument, checkDocument, type Problem } from './check-document.ts'

export type { CheckedDocument, Problem }

// A script of its own, which only the page with the editor loads.

interface EditorOptions {
  text: string
  /** The text that counts as saved. */
  saved: string
  /** The accessible name. */
  label: string
  /** Called when the text starts or ceases to differ from the saved one. */
  onDirty(isDirty: boolean): void
  /** Called with the problems of the text when typing pauses. */
  onCheck(problems: Problem[]): void
}

export interface Editor {
  text(): string
  check(): CheckedDocument
  /** Replaces the text, and counts the new one as saved. */
  load(text: string): void
  /** Counts the current text as saved. */
  markSaved(): void
  /** Moves the cursor to a problem. */
  show(problem: Problem): void
  destroy(): void
}

const checkDelayMs = 250

/**
 * An editor for JSON in `parent`. It is in a shadow root, where its styles are adopted style sheets: the
 * content security policy allows no style elements.
 */
export function createEditor(parent: Element, options: EditorOptions): Editor {
  const { text, label, onDirty, onCheck } = options
  let saved = Text.of(options.saved.split('\n'))
  let isDirty = false
  function compare(view: EditorView): void {
    if (isDirty !== view.state.doc.eq(saved)) return
    isDirty = !isDirty
    onDirty(isDirty)
  }
  const shadow = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' })
  const view = new EditorView({
    parent: shadow,
    root: shadow,
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      highlightActiveLine(),
      bracketMatching(),
      json(),
      syntaxHighlighting(highlighting),
      theme,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      // Tab moves the focus, as everywhere else.
      keymap.of([...defaultKeymap, ...historyKeymap, { key: 'F8', run: nextDiagnostic }]),
      linter(
        ({ state }) => {
          const { problems } = checkDocument(state.doc.toString())
          onCheck(problems)
          return problems.map(({ from, to, message }) => ({ from, to, message, severity: 'error' }))
        },
        { delay: checkDelayMs },
      ),
      EditorView.updateListener.of(({ docChanged, view }) => {
        if (docChanged) compare(view)
      }),
    ],
  })
  compare(view)
  return {
    text: () => view.state.doc.toString(),
    check: () => checkDocument(view.state.doc.toString()),
    load(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
      this.markSaved()
    },
    markSaved() {
      saved = view.state.doc
      compare(view)
    },
    show({ from }) {
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}

const highlighting = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
])

/** Uses the console's colours. Underlines are text decorations, because the policy allows no data URLs. */
const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: '2.5px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.88rem', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--muted)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '2.6em', padding: '0 0.6em' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
  '.cm-lintRange-error, .cm-lintRange-active': {
    backgroundImage: 'none',
    backgroundColor: 'var(--danger-soft)',
    textDecoration: 'underline wavy var(--danger)',
  },
  '.cm-tooltip': {
    border: '1px solid var(--line-strong)',
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
})
