/**
 * Puts the focus where whoever opens something begins: on the field that asks for it, if one does. To be called as that is drawn: a
 * focus that comes later takes it from whoever types already.
 */
export function focusWithin(container: Element | null): void {
  const field = container?.querySelector('[data-focus]')
  if (field instanceof HTMLElement) field.focus()
}
