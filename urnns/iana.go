package urnns

import (
	_ "embed"
	"strings"
)

//go:embed iana.tsv
var ianaText string

// iana returns the registered namespaces that need no code: the rows of
// iana.tsv. A test makes sure that each is whole.
func iana() []Namespace {
	var all []Namespace
	for line := range strings.Lines(ianaText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		fold, _ := ParseFold(fields[1])
		ns := Namespace{NID: fields[0], Fold: fold, Source: fields[3]}
		if fields[2] != "-" {
			ns.Targets = []Target{{Template: fields[2]}}
		}
		all = append(all, ns)
	}
	return all
}
