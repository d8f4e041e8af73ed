import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { DayChart } from '../components/day-chart.tsx'
import { Icon } from '../components/icon.tsx'
import {
  formatMonth,
  formatMonths,
  formatShareInTime,
  formatTime,
  lastMonths,
  toMonthBins,
} from '../components/months.ts'
import { Page } from '../components/page.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { counted, formatNumber, When } from '../components/when.tsx'
import { requestKinds } from '../requests.ts'
import { useResource } from '../resource.ts'
import { monthParam, useSearchParams } from '../search-params.ts'
import { For, useSession } from '../session.tsx'
import type { MonthOfRequests, RequestReport, TotalOfRequests } from '../types.ts'

const params = { from: monthParam, to: monthParam }

/** How many months can be chosen. */
const offeredMonths = 60

/** How many requests arrived in each month, and how long the answers took. Made to be printed. */
export function RequestReportPage() {
  const [range, choose] = useSearchParams<{ from: string; to: string }>(params)
  const chosen = Object.entries(range).filter(([, month]) => month !== '')
  const query = chosen.length > 0 ? `?${new URLSearchParams(chosen)}` : ''
  const report = useResource<RequestReport>(`/requests/report${query}`)
  const { organisation } = useSession()
  const { data } = report
  const period = data ? formatMonths(data.from, data.to) : '…'
  return (
    <Page
      title="Request report"
      above={{ to: '/console/requests', title: 'Requests' }}
      intro={`${organisation.name}: requests received in ${period}`}
      actions={
        <>
          <For least="desk">
            <a class="button plain" href={`/console/api/requests/report/export${query}`} download>
              <Icon name="download" />
              <span>Download CSV</span>
            </a>
          </For>
          <Button kind="primary" icon="print" onClick={() => print()}>
            Print
          </Button>
        </>
      }
    >
      <div class="tools">
        <search class="find">
          <MonthField
            label="From"
            value={data?.from ?? range.from}
            last={data?.to ?? range.to}
            onChange={(from) => choose({ from, to: data?.to ?? range.to }, { push: true })}
          />
          <MonthField
            label="To"
            value={data?.to ?? range.to}
            onChange={(to) => choose({ from: data && data.from <= to ? data.from : to, to }, { push: true })}
          />
        </search>
      </div>
      <Loaded resource={report} lines={12}>
        {(data) =>
          data.months.length === 0 ? (
            <Empty icon="clock" title="No requests">
              <p>No requests were received in {period}. Cancelled requests are not counted.</p>
            </Empty>
          ) : (
            <Report report={data} period={period} />
          )
        }
      </Loaded>
    </Page>
  )
}

interface MonthFieldProps {
  label: string
  value: string
  /** The latest month that can be chosen, if not the current one. */
  last?: string
  onChange(month: string): void
}

function MonthField({ label, value, last, onChange }: MonthFieldProps) {
  const id = useId()
  const offered = lastMonths(offeredMonths).filter((month) => !last || month <= last)
  return (
    <div class="field inline">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {value !== '' && !offered.includes(value) && <option value={value}>{formatMonth(value)}</option>}
        {offered.map((month) => (
          <option key={month} value={month}>
            {formatMonth(month)}
          </option>
        ))}
      </select>
    </div>
  )
}

function Report({ report, period }: { report: RequestReport; period: string }) {
  const { from, to, at, months, totals, keptDays } = report
  const all = totals.find(({ kind }) => kind === null)
  const today = at.slice(0, 10)
  const bins = toMonthBins(months, from, to, today)
  return (
    <>
      {all && <Figures {...all} />}
      <section class="card" aria-labelledby="received">
        <header>
          <h2 id="received">Requests received</h2>
          <span class="legend late">late</span>
        </header>
        <DayChart
          {...{ today, bins }}
          label={`Requests received in ${period}`}
          words={(value, part) =>
            `${counted(value, 'request')}${part > 0 ? `, ${formatNumber(part)} late` : ''}`
          }
        />
      </section>
      <MonthTable months={months} totals={totals} />
      <section class="report-notes" aria-labelledby="notes">
        <h2 id="notes">How the figures are calculated</h2>
        <ul>
          <li>
            A request counts in the month in which it was received (in UTC). Cancelled requests are not
            counted.
          </li>
          <li>
            The time to answer is that of requests that are done, from their receipt until they were done.
            Rejected requests are listed, but not timed.
          </li>
          <li>
            A request was answered in time if it was done or rejected by its due date: one month after it was
            received, or three months if it was extended. Overdue requests count as late; other open requests
            do not count yet.
          </li>
          <li>
            Closed requests are kept for {counted(keptDays, 'day')}. Older ones are no longer in the report.
          </li>
        </ul>
        <p class="muted">
          As of <When at={at} />.
        </p>
      </section>
    </>
  )
}

function Figures(total: TotalOfRequests) {
  const { received, medianMs, worstMs, inTime, late, overdue } = total
  return (
    <dl class="figures">
      <Figure title="Received">{formatNumber(received)}</Figure>
      <Figure title="Median time to answer">{formatTime(medianMs)}</Figure>
      <Figure title="Worst time to answer">{formatTime(worstMs)}</Figure>
      <Figure title="Answered in time" detail={`${formatNumber(inTime)} of ${formatNumber(inTime + late)}`}>
        {formatShareInTime(total)}
      </Figure>
      <Figure title="Still overdue">{formatNumber(overdue)}</Figure>
    </dl>
  )
}

function Figure({
  title,
  detail,
  children,
}: {
  title: string
  detail?: string
  children: ComponentChildren
}) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <span class="figure">{children}</span>
        {detail && <span class="muted figure-detail">{detail}</span>}
      </dd>
    </div>
  )
}

const figures = ['Received', 'Done', 'Rejected', 'Open', 'Median time', 'Worst time', 'In time'] as const

function MonthTable({ months, totals }: Pick<RequestReport, 'months' | 'totals'>) {
  return (
    <Table
      caption="Requests by month and kind"
      columns={['Month', 'Kind']}
      figures={figures}
      tableClass="report-table"
    >
      {months.map((row, i) => (
        <Row
          key={row.month + row.kind}
          title={formatMonth(row.month)}
          isAgain={months[i - 1]?.month === row.month}
          row={row}
        />
      ))}
      {totals.map((row, i) => (
        <Row key={row.kind} title="Total" isAgain={i > 0} isTotal row={row} />
      ))}
    </Table>
  )
}

interface RowProps {
  title: string
  /** Whether the row above has the same title. */
  isAgain: boolean
  isTotal?: boolean
  row: MonthOfRequests | TotalOfRequests
}

function Row({ title, isAgain, isTotal = false, row }: RowProps) {
  const { kind, received, done, rejected, open, overdue, medianMs, worstMs } = row
  const values = [
    formatNumber(received),
    formatNumber(done),
    formatNumber(rejected),
    overdue > 0 ? (
      <span class="overdue">{`${formatNumber(open)} (${formatNumber(overdue)} overdue)`}</span>
    ) : (
      formatNumber(open)
    ),
    formatTime(medianMs),
    formatTime(worstMs),
    formatShareInTime(row),
  ]
  return (
    <tr class={[isTotal ? 'total' : '', isAgain ? 'again' : ''].join(' ')}>
      <th scope="row">
        <span>{title}</span>
      </th>
      <td data-label="Kind">{kind ? requestKinds[kind] : 'All'}</td>
      {figures.map((column, i) => (
        <td key={column} class="number" data-label={column}>
          {values[i]}
        </td>
      ))}
    </tr>
  )
}
