export function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`The page has no ${id}.`)
  return element
}

/** An element with a class, and texts or elements in it. */
export function make(tag: string, className: string, ...content: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag)
  if (className !== '') element.className = className
  element.append(...content)
  return element
}

export function facts(values: Record<string, string>): HTMLElement {
  const list = make('dl', '')
  for (const [name, value] of Object.entries(values)) list.append(make('dt', '', name), make('dd', '', value))
  return list
}
