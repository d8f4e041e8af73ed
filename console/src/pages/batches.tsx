import { Icon } from '../components/icon.tsx'
import { Page } from '../components/page.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { Badge } from '../components/values.tsx'
import { Ago, formatNumber } from '../components/when.tsx'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type { Batch, BatchList } from '../types.ts'

/** How often a page polls running batches. */
export const pollIntervalMs = 1_500

export function BatchesPage() {
  const batches = useResource<BatchList>('/batches', {
    pollMs: (data) => (data?.batches.some(({ state }) => state === 'running') ? pollIntervalMs : false),
  })
  return (
    <Page
      title="Batches"
      intro="A batch erases a list of people in the background and produces a report with a receipt for each of them."
      actions={
        <Link to="/console/batches/new" class="button primary">
          <Icon name="plus" />
          <span>Start a batch</span>
        </Link>
      }
    >
      <Loaded resource={batches}>
        {({ batches }) =>
          batches.length === 0 ? (
            <Empty icon="batches" title="No batches yet">
              <p>
                Paste IDs or e-mail addresses, or drop a CSV file. You preview the matches before anything is
                erased.
              </p>
            </Empty>
          ) : (
            <BatchTable batches={batches} />
          )
        }
      </Loaded>
    </Page>
  )
}

function BatchTable({ batches }: { batches: Batch[] }) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">Batches, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Started</th>
            <th scope="col">State</th>
            <th scope="col">Started by</th>
            <th scope="col" class="number">
              Data subjects
            </th>
            <th scope="col">Ended</th>
          </tr>
        </thead>
        <tbody>
          {batches.map((batch) => (
            <tr key={batch.id} class="leads">
              <th scope="row">
                <Link to={`/console/batches/${batch.id}`}>
                  <Ago at={batch.createdAt} />
                </Link>
              </th>
              <td data-label="State">
                <Badge state={batch.state} />
              </td>
              <td data-label="Started by">{starterOf(batch)}</td>
              <td data-label="Data subjects" class="number">
                {formatNumber(batch.erased?.subjects ?? batch.settled)} of {formatNumber(batch.subjects)}
              </td>
              <td data-label="Ended">
                <Ago at={batch.finishedAt} none="not yet" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export function starterOf({ startedBy }: Batch): string {
  return startedBy.kind === 'command-line' ? 'Command line' : startedBy.name
}
