#!/bin/sh
# Reads, pages, waits after a 429 and erases with curl only: --retry waits as long as Retry-After requires.
set -eu
subjects="$LETHE_URL/v1/analytics/trackers/sample-shop/subjects"

ask() {
    curl --silent --show-error --fail --compressed --header "Authorization: Bearer $LETHE_API_KEY" "$@"
}

echo "with $(curl --version | head -n 1 | cut -d ' ' -f 1)"
echo "read $(ask "$subjects/visitor-61920061" | grep -o '"subjectId":"[^"]*"' | cut -d '"' -f 4)"
page=$(ask "$subjects?limit=5")
echo "page $(echo "$page" | grep -o '"subjectId"' | wc -l | tr -d ' ') $(echo "$page" | grep -q '"nextCursor":"' && echo True)"
while ask --output /dev/null "$subjects/visitor-61920061" 2>/dev/null; do :; done
ask --retry 1 --output /dev/null "$subjects/visitor-61920061" 2>/dev/null && echo 'refusals 1'
echo "erased $(ask --request DELETE "$subjects/visitor-18340075" | grep -o '"events":[0-9]*' | cut -d : -f 2)"
