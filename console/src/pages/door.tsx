import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { focusWithin } from '../focus.ts'
import { Logo } from '../parts/icon.tsx'

/** What is around the pages for whoever comes. */
export function Door({ title, children }: { title: string; children: ComponentChildren }) {
  const ref = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    document.title = `${title} · Lethe`
    focusWithin(ref.current)
  }, [title])
  return (
    <main class="door" ref={ref}>
      <div class="door-card">
        <p class="door-brand">
          <Logo /> <strong>Lethe</strong>
        </p>
        <h1>{title}</h1>
        {children}
      </div>
      <svg
        class="river"
        viewBox="0 0 1200 200"
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        {[0, 1, 2, 3, 4].map((i) => (
          <path
            key={i}
            opacity={0.9 - i * 0.17}
            d={`M0 ${30 + i * 34} C 200 ${-5 + i * 34}, 400 ${-5 + i * 34}, 600 ${30 + i * 34} S 1000 ${65 + i * 34}, 1200 ${30 + i * 34}`}
          />
        ))}
      </svg>
    </main>
  )
}
