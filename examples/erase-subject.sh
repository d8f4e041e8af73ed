#!/bin/sh
# Erases a visitor for good, and waits where the service asks for it. Needs nothing but curl.
# examples/erase-subject.sh TRACKER SUBJECT, with LETHE_URL and LETHE_API_KEY in the environment.
set -eu

# Ids may hold anything, so every byte is percent-encoded.
encode() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'; }

address="$LETHE_URL/v1/analytics/trackers/$(encode "$1")/subjects/$(encode "$2")"
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT

for attempt in 1 2 3 4 5; do
  # On standard input, because anybody on this machine can read the arguments of a process.
  response=$(printf 'Authorization: Bearer %s\n' "$LETHE_API_KEY" |
    curl -sS --max-time 60 -X DELETE -H @- -D "$headers" -w ' %{http_code}' "$address") ||
    { sleep "$attempt" && continue; }
  body=${response% *}
  # Not from the headers: those of a proxy that only opened the connection come first.
  case ${response##* } in
    200) printf '%s\n' "$body" && exit 0 ;;
    429) sleep "$(sed -n 's/^[Rr]etry-[Aa]fter: \([0-9]*\).*/\1/p' "$headers")" ;;
    5??) sleep "$attempt" ;;
    *) printf '%s\n' "$body" >&2 && exit 1 ;;
  esac
done
echo 'No answer after five attempts. Run it again later: that does no harm.' >&2
exit 1
