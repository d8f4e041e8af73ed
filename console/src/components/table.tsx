import type { ComponentChildren } from 'preact'

interface TableProps {
  /** For screen readers. */
  caption: string
  columns: readonly string[]
  /** The titles of columns with figures, which follow the others. */
  figures?: readonly string[]
  /** Whether the last column has the actions on each row. */
  hasActions?: boolean
  /** What styles the frame and the table apart from others. */
  frameClass?: string
  tableClass?: string
  /** The rows. */
  children: ComponentChildren
}

export function Table({
  caption,
  columns,
  figures = [],
  hasActions = false,
  frameClass,
  tableClass,
  children,
}: TableProps) {
  return (
    <div class={frameClass ? `table-frame ${frameClass}` : 'table-frame'}>
      <table class={tableClass ? `table ${tableClass}` : 'table'}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            {figures.map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
            {hasActions && (
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
