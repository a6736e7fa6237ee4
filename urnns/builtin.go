package urnns

import (
	_ "embed"
	"encoding/json"
)

// The formal URN namespaces of the IANA registry as of 2026-05-28, one row per
// line. A namespace has a fold only if its document says that case does not count in
// all of its names: names that differ must not be merged.
//
//go:embed iana.json
var iana []byte

// Builtin returns the namespaces that urnd has without configuration: those
// of the IANA registry, in order. To add one, write its row in iana.json.
func Builtin() []Namespace {
	var rows []Namespace
	if err := json.Unmarshal(iana, &rows); err != nil {
		return nil // never: a test reads the file
	}
	return rows
}
