package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A record is an entry of the ledger.
type record struct {
	AlreadyErased bool `json:"alreadyErased"`
	Counts        struct {
		Events   int64 `json:"events"`
		Sessions int64 `json:"sessions"`
	} `json:"counts"`
	ErasedAt  time.Time `json:"erasedAt"`
	Subject   string    `json:"subject"`
	TrackerID string    `json:"trackerId"`
	Version   int       `json:"version"`
}

type verifiedReceipt struct {
	origin      string
	index, size int64
	record      record
}

// verifyReceipt verifies a C2SP tlog-proof with the entry and its nonce as extra data.
func verifyReceipt(text string, keys []string, tracker, subject string) (*verifiedReceipt, error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 3 || lines[0] != "c2sp.org/tlog-proof@v1" || strings.Contains(text, "\r") {
		return nil, errors.New("this is no c2sp.org/tlog-proof@v1")
	}
	nonce, leaf, err := parseExtra(lines[1])
	if err != nil {
		return nil, err
	}
	index, err := parseSize(strings.TrimPrefix(lines[2], "index "))
	if err != nil || !strings.HasPrefix(lines[2], "index ") {
		return nil, errors.New("the line with the index is malformed")
	}
	var proof tlog.RecordProof
	for _, line := range lines[3:] {
		hash, err := parseHash(line)
		if err != nil {
			return nil, err
		}
		proof = append(proof, hash)
	}

	origin, size, root, err := openCheckpoint(checkpoint, keys)
	if err != nil {
		return nil, err
	}
	if index >= size {
		return nil, errors.New("the index is beyond the ledger")
	}
	if err := tlog.CheckRecord(proof, size, root, index, tlog.RecordHash([]byte(leaf))); err != nil {
		return nil, err
	}

	verified := verifiedReceipt{origin: origin, index: index, size: size}
	decoder := json.NewDecoder(strings.NewReader(leaf))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&verified.record); err != nil || decoder.More() || verified.record.Version != 1 {
		return nil, errors.New("the entry is malformed")
	}
	if tracker != "" && tracker != verified.record.TrackerID {
		return nil, errors.New("the receipt is of another tracker")
	}
	if subject != "" && !isOf(verified.record, nonce, subject) {
		return nil, errors.New("the receipt is of another data subject")
	}
	return &verified, nil
}

// openCheckpoint verifies the signatures of a checkpoint and reads it.
func openCheckpoint(checkpoint string, keys []string) (origin string, size int64, root tlog.Hash, err error) {
	var verifiers []note.Verifier
	for _, key := range keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			return "", 0, root, err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(checkpoint), note.VerifierList(verifiers...))
	if err != nil {
		return "", 0, root, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 {
		return "", 0, root, errors.New("the checkpoint is malformed")
	}
	if size, err = parseSize(lines[1]); err != nil {
		return "", 0, root, errors.New("the size in the checkpoint is malformed")
	}
	if root, err = parseHash(lines[2]); err != nil {
		return "", 0, root, err
	}
	for _, signature := range append(opened.Sigs, opened.UnverifiedSigs...) {
		// The note package passes over bits behind the last byte.
		if _, err := base64.StdEncoding.Strict().DecodeString(signature.Base64); err != nil {
			return "", 0, root, errors.New("a signature is malformed")
		}
	}
	for _, signature := range opened.Sigs {
		if signature.Name == lines[0] {
			return lines[0], size, root, nil
		}
	}
	return "", 0, root, fmt.Errorf("the checkpoint is of %q, and the key that signed it is not", lines[0])
}

// parseExtra reads the nonce and the entry out of the extra data. A map, because its keys must be written as they are.
func parseExtra(line string) (nonce []byte, leaf string, err error) {
	var extra map[string]string
	encoded := strings.TrimPrefix(line, "extra ")
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err == nil {
		err = json.Unmarshal(data, &extra)
	}
	if err != nil || encoded == line || len(extra) != 2 {
		return nil, "", errors.New("the line with the extra data is malformed")
	}
	nonce, err = base64.RawURLEncoding.Strict().DecodeString(extra["nonce"])
	if err != nil || len(nonce) != 32 {
		return nil, "", errors.New("the nonce is malformed")
	}
	return nonce, extra["record"], nil
}

// isOf tells whether an entry is of a data subject.
func isOf(entry record, nonce []byte, subject string) bool {
	mac := hmac.New(sha256.New, nonce)
	fmt.Fprintf(mac, "%s\x00%s", entry.TrackerID, subject)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) == entry.Subject
}

// parseSize reads a number that is written in the one way it is to be written.
func parseSize(text string) (int64, error) {
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != text {
		return 0, errors.New("a number is malformed")
	}
	return size, nil
}

func parseHash(text string) (hash tlog.Hash, err error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) != tlog.HashSize {
		return hash, errors.New("a hash is malformed")
	}
	copy(hash[:], data)
	return hash, nil
}
