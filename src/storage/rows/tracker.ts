import type { Tracker } from '../../domain/tracker.ts'
import { integer, type Row, text } from './row.ts'

export function toTracker(row: Row): Tracker {
  return {
    id: text(row, 'id'),
    organisationId: text(row, 'organisation_id'),
    name: text(row, 'name'),
    createdAt: integer(row, 'created_at'),
  }
}
