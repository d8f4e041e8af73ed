-- Requests that share their reference are listed as one. Those that do not, which are most, have an index of their own, so that a page
-- reads them without the others; the others are found by their references. The index by reference has what is summed of a group.
ALTER TABLE privacy_requests ADD COLUMN shares_reference bigint NOT NULL DEFAULT 0;
UPDATE privacy_requests SET shares_reference = 1
WHERE list_line > 0 OR EXISTS (
  SELECT 1 FROM privacy_requests f WHERE f.organisation_id = privacy_requests.organisation_id
    AND f.reference = privacy_requests.reference AND f.kind = privacy_requests.kind AND f.id < privacy_requests.id);
CREATE INDEX privacy_requests_alone ON privacy_requests (organisation_id, state, kind, due_at, id) WHERE shares_reference = 0;
CREATE INDEX privacy_requests_sharing ON privacy_requests (organisation_id, state, kind, reference) WHERE shares_reference = 1;
DROP INDEX privacy_requests_by_reference_and_state_and_kind_and_due;
CREATE INDEX privacy_requests_by_reference_and_state_and_kind_and_due
  ON privacy_requests (organisation_id, reference, state, kind, due_at, id) INCLUDE (
    resumes_at, received_at, closed_at, approval_asked_at, found_subjects, found_sessions, found_events,
    erased_subjects, erased_sessions, erased_events);
