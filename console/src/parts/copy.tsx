import { useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { tell } from './toasts.tsx'

/** For browsers that cannot size a field by its text. */
const charactersPerRow = 40

interface CopyProps {
  label: string
  text: string
  /** Whether to begin here. */
  hasFocus?: boolean
}

/** A text to take along, with a button that copies it. Where a browser does not let us, it is selected to be copied by hand. */
export function Copy({ label, text, hasFocus = false }: CopyProps) {
  const [isCopied, setCopied] = useState(false)
  const ref = useRef<HTMLTextAreaElement>(null)
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      tell(`${label} copied`)
      setTimeout(() => setCopied(false), 2_000)
    } catch {
      ref.current?.select()
      tell('Text selected: copy it with Ctrl+C or ⌘C')
    }
  }
  return (
    <div class="copy">
      <textarea
        ref={ref}
        readOnly
        data-focus={hasFocus}
        value={text}
        rows={Math.ceil(text.length / charactersPerRow)}
        aria-label={label}
        spellcheck={false}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button icon={isCopied ? 'check' : 'copy'} label={`Copy ${label.toLowerCase()}`} onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  )
}
