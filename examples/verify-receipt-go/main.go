// Verify-receipt-go verifies the receipt of an erasure, offline, with the packages that Go verifies its own module
// database with. It shares no code with Lethe.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

type keyList []string

func (keys *keyList) String() string { return fmt.Sprint(*keys) }

func (keys *keyList) Set(key string) error {
	*keys = append(*keys, key)
	return nil
}

func main() {
	var keys keyList
	flag.Var(&keys, "key", "verifier `key` of the ledger, name+id+base64; may be given several times")
	tracker := flag.String("tracker", "", "`id` of the tracker that the receipt must be of")
	subject := flag.String("subject", "", "`id` of the data subject that the receipt must be of")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Usage: verify-receipt-go --key VKEY [--tracker T --subject S] FILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || len(keys) == 0 {
		flag.Usage()
		os.Exit(2)
	}

	text, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	verified, err := verifyReceipt(string(text), keys, *tracker, *subject)
	if err != nil {
		fmt.Fprintf(os.Stderr, "not verified: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("verified: entry %d of %d in the ledger of %s\n", verified.index, verified.size, verified.origin)
	fmt.Printf("erased at %s from %q: sessions %d, events %d\n", verified.record.ErasedAt.Format(time.RFC3339Nano),
		verified.record.TrackerID, verified.record.Counts.Sessions, verified.record.Counts.Events)
	if *subject == "" {
		fmt.Println("whose data that was is not proven: name the data subject with --subject")
	}
}
