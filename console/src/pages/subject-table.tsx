import { Table } from '../components/table.tsx'
import { Id } from '../components/values.tsx'
import { Ago, formatNumber } from '../components/when.tsx'
import { Link } from '../router.tsx'
import { subjectAddress } from '../search.ts'
import type { SubjectSummary } from '../types.ts'

export function SubjectTable({ trackerId, subjects }: { trackerId: string; subjects: SubjectSummary[] }) {
  return (
    <Table
      caption="Data subjects"
      columns={['Data subject', 'Last seen', 'First seen']}
      figures={['Sessions', 'Events']}
    >
      {subjects.map(({ subjectId, firstSeenAt, lastSeenAt, counts }) => (
        <tr key={subjectId} class="leads">
          <th scope="row">
            <Link to={subjectAddress({ trackerId, subjectId })}>
              <code class="wrap">
                <Id text={subjectId} />
              </code>
            </Link>
          </th>
          <td data-label="Last seen">
            <Ago at={lastSeenAt} />
          </td>
          <td data-label="First seen">
            <Ago at={firstSeenAt} />
          </td>
          <td class="number" data-label="Sessions">
            {formatNumber(counts.sessions)}
          </td>
          <td class="number" data-label="Events">
            {formatNumber(counts.events)}
          </td>
        </tr>
      ))}
    </Table>
  )
}
