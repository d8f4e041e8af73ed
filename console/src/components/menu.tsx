import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

export interface MenuItem {
  title: string
  icon?: IconName
  /** Whether it is marked as dangerous. */
  isRisky?: boolean
  onChoose(): void
}

interface MenuProps {
  /** The accessible name of the button. */
  label: string
  items: readonly MenuItem[]
}

/**
 * Rare actions behind a button: the menu button pattern of ARIA. The menu is in the top layer, so that no
 * table clips it.
 */
export function Menu({ label, items }: MenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  // The item that gets the focus; `null` if the menu is closed.
  const [opened, setOpened] = useState<number | null>(null)
  const isOpen = opened !== null
  const itemsIn = () => [...(menu.current?.querySelectorAll('button') ?? [])]
  function close(): void {
    // First, because the focus is lost with a hidden item.
    button.current?.focus()
    setOpened(null)
  }
  // Layout effects, because the menu takes keys as soon as it is painted.
  useLayoutEffect(() => {
    if (opened === null || !menu.current || !button.current) return
    menu.current.showPopover()
    placeBelow(menu.current, button.current)
    itemsIn().at(opened)?.focus()
    return () => menu.current?.hidePopover()
  }, [opened])
  useLayoutEffect(() => {
    if (!isOpen) return
    const place = positionOf(button.current)
    const leave = (event: Event) => {
      const { target } = event
      const isOwn = target instanceof Node && [menu, button].some(({ current }) => current?.contains(target))
      if (!isOwn) setOpened(null)
    }
    // The event of a scroll that ended before the menu opened may still come.
    const leaveIfMoved = (event: Event) => positionOf(button.current) !== place && leave(event)
    document.addEventListener('pointerdown', leave)
    addEventListener('scroll', leaveIfMoved, { capture: true })
    addEventListener('resize', leave)
    return () => {
      document.removeEventListener('pointerdown', leave)
      removeEventListener('scroll', leaveIfMoved, { capture: true })
      removeEventListener('resize', leave)
    }
  }, [isOpen])
  function handleKey(event: KeyboardEvent): void {
    const all = itemsIn()
    const at = all.findIndex((each) => each.matches(':focus'))
    const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      all.at(step % all.length)?.focus()
    } else if (event.key === 'Escape') {
      event.preventDefault()
      close()
    } else if (event.key === 'Tab') close()
    else if (event.key.length === 1 && event.key !== ' ') {
      const letter = event.key.toLowerCase()
      const following = [...all.slice(at + 1), ...all.slice(0, at + 1)]
      following.find((each) => each.textContent?.trim().toLowerCase().startsWith(letter))?.focus()
    }
  }
  return (
    <>
      <button
        ref={button}
        id={`${id}-button`}
        type="button"
        class="icon-button menu-button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => (isOpen ? close() : setOpened(0))}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          setOpened(event.key === 'ArrowDown' ? 0 : -1)
        }}
      >
        <Icon name="more" />
      </button>
      <div
        ref={menu}
        id={id}
        class="menu"
        popover="manual"
        role="menu"
        tabIndex={-1}
        aria-labelledby={`${id}-button`}
        onKeyDown={handleKey}
      >
        {items.map(({ title, icon, isRisky = false, onChoose }) => (
          <button
            key={title}
            type="button"
            role="menuitem"
            tabIndex={-1}
            class={isRisky ? 'risky' : undefined}
            onClick={() => {
              close()
              onChoose()
            }}
          >
            {icon && <Icon name={icon} />}
            {title}
          </button>
        ))}
      </div>
    </>
  )
}

function positionOf(element: HTMLElement | null): string {
  const { left, top } = element?.getBoundingClientRect() ?? {}
  return `${left} ${top}`
}

const gap = 4

/** Below the button and aligned with its end, or above it where there is more room. */
function placeBelow(menu: HTMLElement, button: HTMLElement): void {
  const { top, bottom, right } = button.getBoundingClientRect()
  const { width, height } = menu.getBoundingClientRect()
  const below = bottom + gap
  menu.style.left = `${Math.max(gap, right - width)}px`
  menu.style.top = `${below + height <= innerHeight ? below : Math.max(gap, top - gap - height)}px`
}
