-- Converts a record of the application's log to an import line. Only values from the log: a record that is sent again
-- must be the same line. Without an ID of its own, leave eventId out; Lethe then derives it from the content.

-- A chunk is full at 2 MB, to which the lines of one read are added, and a batch has up to 10,000 lines: a chunk of
-- shorter lines would be refused, and dropped.
local min_length = 256

-- The least bytes that the values of a line take. A number can take one.
local function length_of(value)
  if type(value) == "string" then return #value end
  if type(value) ~= "table" then return 1 end
  local length = 0
  for _, each in pairs(value) do length = length + length_of(each) end
  return length
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
  }
  if record.path or record.cents then line.properties = { path = record.path, cents = record.cents } end
  if record.user then line.identifiers = { email = record.user } end
  -- Only what is sent counts. Lethe ignores the field, and compression removes its cost.
  local missing = min_length - length_of(line)
  if missing > 0 then line.padding = string.rep(" ", missing) end
  return 2, timestamp, line
end
