package wais

import (
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// opacText converts an OPAC record of a library catalog, ISO 23950 appendix REC.3, to text: the bibliographic
// record, and the location of its copies.
func opacText(e element) string {
	var b strings.Builder
	if r, ok := opacRecord(e); ok {
		b.WriteString(r.text())
	}
	const holdingsData, holdingsAndCirculation = 2, 2
	holdings, _ := e.child(holdingsData)
	for h := range holdings.children() {
		if !h.is(contextual, holdingsAndCirculation) {
			h, _ = h.child(holdingsAndCirculation)
		}
		var parts []string
		for part := range h.children() {
			const localLocation, publicNote = 9, 14
			if part.class == contextual && part.tag >= localLocation && part.tag <= publicNote {
				parts = append(parts, scheme.DecodeText(string(part.bytes())))
			}
		}
		if parts != nil {
			b.WriteString("Copy: " + strings.Join(parts, ", ") + "\n")
		}
	}
	return b.String()
}

// opacRecord returns the bibliographic record. ok is false if that is an OPAC record itself, which would
// recurse.
func opacRecord(e element) (record, bool) {
	const bibliographicRecord = 1
	inner, ok := e.child(bibliographicRecord)
	r := parseExternal(inner)
	return r, ok && r.syntax != idOPAC
}
