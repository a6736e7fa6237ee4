package urnns

import (
	_ "embed"
	"encoding/json"
)

// The formal URN namespaces of the IANA registry as of 2026-05-28, one row per line. A namespace has a fold
// only if its specification makes case insignificant in all of its names, since distinct names must not be
// merged.
//
//go:embed iana.json
var iana []byte

// Builtin returns the namespaces that need no configuration: those of the IANA registry, in order. To add one,
// write its row in iana.json.
func Builtin() []Namespace {
	var rows []Namespace
	if err := json.Unmarshal(iana, &rows); err != nil {
		return nil // unreachable: a test parses the file
	}
	return rows
}
