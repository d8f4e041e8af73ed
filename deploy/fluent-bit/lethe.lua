-- Converts a record of the application's log to an import line. Only values from the log: a record that is sent again
-- must be the same line. Without an ID of its own, leave eventId out; Lethe then derives it from the content.

-- A chunk has up to 2.5 MB, and a batch up to 10,000 lines: a chunk of shorter lines would be refused, and dropped.
-- Lethe ignores the field, and compression removes its cost.
local function padding(record)
  local length = 0
  for _, value in pairs(record) do length = length + #tostring(value) end
  if length < 160 then return string.rep(" ", 160 - length) end
  return nil
end

function to_import_line(tag, timestamp, record)
  if type(record.action) ~= "string" then return -1, timestamp, record end
  local line = {
    type = "event",
    subjectId = record.visitor,
    sessionId = record.session,
    eventId = record.id,
    name = record.action,
    occurredAt = record.time,
    padding = padding(record),
  }
  if record.path or record.cents then line.properties = { path = record.path, cents = record.cents } end
  if record.user then line.identifiers = { email = record.user } end
  return 2, timestamp, line
end
