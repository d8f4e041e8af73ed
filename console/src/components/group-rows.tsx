import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Resource } from '../resource.ts'
import { useResource } from '../resource.ts'
import { Icon } from './icon.tsx'
import { LoadError } from './states.tsx'

interface GroupRowsProps<Data> {
  /** What the rows have in common. */
  title: string
  detail: ComponentChildren
  /** The other cells of the row. */
  cells: ComponentChildren
  /** The path of the rows, fetched when the group is opened. */
  path: string
  columns: number
  children(data: Data): ComponentChildren
}

/** The row of a table that stands for several rows, and shows them below itself when it is opened. */
export function GroupRows<Data>({ title, detail, cells, path, columns, children }: GroupRowsProps<Data>) {
  const [isOpen, setOpen] = useState(false)
  const rows = useResource<Data>(isOpen ? path : null)
  return (
    <>
      <tr class={isOpen ? 'group open' : 'group'}>
        <th scope="row">
          <button type="button" class="expand" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name="next" />
            <span class="strong">{title}</span>
          </button>
          {detail && <span class="detail">{detail}</span>}
        </th>
        {cells}
      </tr>
      {isOpen && <Members {...{ rows, columns }}>{children}</Members>}
    </>
  )
}

interface MembersProps<Data> {
  rows: Resource<Data>
  columns: number
  children(data: Data): ComponentChildren
}

function Members<Data>({ rows: { data, error, reload }, columns, children }: MembersProps<Data>) {
  if (data !== null && !error) return <>{children(data)}</>
  return (
    <tr class="within">
      <td colSpan={columns}>
        {error ? <LoadError error={error} onRetry={reload} /> : <span role="status">Loading…</span>}
      </td>
    </tr>
  )
}
