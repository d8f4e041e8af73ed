import { Id } from '../components/values.tsx'
import { Ago, formatNumber } from '../components/when.tsx'
import { Link } from '../router.tsx'
import { subjectAddress } from '../search.ts'
import type { SubjectSummary } from '../types.ts'

export function SubjectTable({ trackerId, subjects }: { trackerId: string; subjects: SubjectSummary[] }) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">Data subjects</caption>
        <thead>
          <tr>
            <th scope="col">Data subject</th>
            <th scope="col">Last seen</th>
            <th scope="col">First seen</th>
            <th scope="col" class="number">
              Sessions
            </th>
            <th scope="col" class="number">
              Events
            </th>
          </tr>
        </thead>
        <tbody>
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
        </tbody>
      </table>
    </div>
  )
}
