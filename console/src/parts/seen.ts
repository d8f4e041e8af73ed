import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Tells, from then on, that an element has come into view: what is far down a page need not be fetched before. */
export function useSeen<Kind extends Element>(): { ref: RefObject<Kind | null>; isSeen: boolean } {
  const ref = useRef<Kind>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element || isSeen) return
    const watching = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true)
    })
    watching.observe(element)
    return () => watching.disconnect()
  }, [isSeen])
  return { ref, isSeen }
}
