import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Icon } from '../components/icon.tsx'
import { LoadError } from '../components/states.tsx'
import { counted } from '../components/when.tsx'
import type { Editor, Problem } from '../editor/editor.ts'
import { unexpected } from '../resource.ts'
import type { Variables } from '../variables.ts'

interface VariableEditorProps {
  /** The text at first, and the text that counts as saved. */
  text: string
  saved: string
  /** Set while the editor is shown. */
  editor: RefObject<Editor | null>
  isDirty: boolean
  onDirty(isDirty: boolean): void
  onReview(text: string, after: Variables): void
  onDiscard(): void
}

/** An editor for a JSON document of variables, which reports problems while typing. */
export function VariableEditor(props: VariableEditorProps) {
  const { editor, isDirty, onDirty, onReview, onDiscard } = props
  const place = useRef<HTMLDivElement>(null)
  const [isLoading, setLoading] = useState(true)
  const [error, setError] = useState<unknown>(null)
  const [attempts, setAttempts] = useState(0)
  const [problems, setProblems] = useState<Problem[]>([])
  useEffect(() => {
    let isGone = false
    async function load(): Promise<void> {
      // A script that only this page loads.
      const { createEditor } = await import('../editor/editor.ts')
      if (isGone || !place.current) return
      const label = 'Variables as a JSON object'
      const { text, saved } = props
      editor.current = createEditor(place.current, { text, saved, label, onDirty, onCheck: setProblems })
      setLoading(false)
    }
    load().catch(setError)
    return () => {
      isGone = true
      editor.current?.destroy()
      editor.current = null
    }
  }, [attempts])
  function review(): void {
    const checked = editor.current?.check()
    const [first] = checked?.problems ?? []
    setProblems(checked?.problems ?? [])
    if (first) editor.current?.show(first)
    else if (checked?.variables) onReview(editor.current?.text() ?? '', checked.variables)
  }
  if (error !== null) {
    const retry = () => {
      setError(null)
      setAttempts(attempts + 1)
    }
    return <LoadError error={unexpected(error)} onRetry={retry} />
  }
  return (
    <section class="part" aria-label="Current variables">
      <div ref={place} class="editor" aria-busy={isLoading} />
      <ProblemList problems={problems} onShow={(problem) => editor.current?.show(problem)} />
      <div class="editor-actions">
        <Button kind="primary" isDisabled={!isDirty} onClick={review}>
          Review changes
        </Button>
        {isDirty && <Button onClick={onDiscard}>Discard changes</Button>}
        <span class="muted" role="status">
          {isDirty && 'Unsaved changes'}
        </span>
      </div>
    </section>
  )
}

const shownProblems = 5

/** Each with its line. A click moves the cursor there. */
function ProblemList({ problems, onShow }: { problems: Problem[]; onShow(problem: Problem): void }) {
  const more = problems.length - shownProblems
  return (
    <div class="problems" role="status">
      {problems.length > 0 && (
        <ul>
          {problems.slice(0, shownProblems).map((problem) => (
            <li key={`${problem.from} ${problem.message}`}>
              <Icon name="alert" />
              <button type="button" onClick={() => onShow(problem)}>
                Line {problem.line}
              </button>
              <span>{problem.message}.</span>
            </li>
          ))}
          {more > 0 && <li>{counted(more, 'more problem')}</li>}
        </ul>
      )}
    </div>
  )
}
