// Reads, pages, waits after a 429 and erases with Go's own client, and compiles every pattern
// of the document with RE2.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"
)

type answer struct {
	Data struct {
		SubjectID  string            `json:"subjectId"`
		Subjects   []json.RawMessage `json:"subjects"`
		NextCursor *string           `json:"nextCursor"`
		Counts     struct {
			Events int64 `json:"events"`
		} `json:"counts"`
	} `json:"data"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}

var (
	base     = os.Getenv("LETHE_URL")
	subjects = base + "/v1/analytics/trackers/sample-shop/subjects"
	refusals int
)

// patient waits as long as Retry-After requires, and retries.
func patient(method, address string) answer {
	request, err := http.NewRequest(method, address, nil)
	check(err)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("LETHE_API_KEY"))
	for {
		response, err := http.DefaultClient.Do(request)
		check(err)
		var body answer
		check(json.NewDecoder(response.Body).Decode(&body))
		check(response.Body.Close())
		if response.StatusCode == http.StatusOK {
			return body
		}
		if response.StatusCode != http.StatusTooManyRequests || body.Error.Code != "rate_limited" {
			panic(fmt.Sprint(response.Status, body.Error))
		}
		refusals++
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		check(err)
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

// patterns gathers every pattern in a document.
func patterns(value any, found map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, inner := range value {
			patterns(inner, found)
		}
	case map[string]any:
		if pattern, ok := value["pattern"].(string); ok {
			found[pattern] = true
		}
		for _, inner := range value {
			patterns(inner, found)
		}
	}
}

func checkPatterns() int {
	response, err := http.Get(base + "/v1/analytics/openapi.json")
	check(err)
	defer response.Body.Close()
	var document any
	check(json.NewDecoder(response.Body).Decode(&document))
	found := map[string]bool{}
	patterns(document, found)
	for pattern := range found {
		regexp.MustCompile(pattern)
	}
	ids := regexp.MustCompile(os.Getenv("LETHE_ID_PATTERN"))
	for id, good := range map[string]bool{
		"a": true, "...": true, "../up": true, ".hidden": true, "a/b": true, "\u00a0": true, "\U0001f9a6": true,
		"": false, ".": false, "..": false, "a\x00": false, "\u0085": false, "\x7f": false, "..\n": false, "a\n": false,
	} {
		if ids.MatchString(id) != good {
			panic(fmt.Sprintf("%q", id))
		}
	}
	return len(found)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	fmt.Println("with", "net/http")
	fmt.Println("read", patient("GET", subjects+"/visitor-61920061").Data.SubjectID)
	page := patient("GET", subjects+"?limit=5").Data
	fmt.Println("page", len(page.Subjects), map[bool]string{true: "True"}[page.NextCursor != nil])
	for refusals == 0 {
		patient("GET", subjects+"/visitor-61920061")
	}
	fmt.Println("refusals", refusals)
	fmt.Println("erased", patient("DELETE", subjects+"/visitor-18340075").Data.Counts.Events)
	if checkPatterns() < 5 {
		panic("few patterns")
	}
}
