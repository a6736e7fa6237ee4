package config

import (
	"strings"
	"unicode"
)

// maxSupport bounds an element of the commitment, in octets: it is in each description of an ARK.
const maxSupport = 500

// checkSupport checks an element of the commitment, which is a line.
func checkSupport(f *Faults, path string, value any) {
	text, _ := value.(string)
	switch {
	case len(text) > maxSupport:
		f.Add(path, "has more than %d octets", maxSupport)
	case strings.ContainsFunc(text, unicode.IsControl):
		f.Add(path, "%q has a line end or another control character", text)
	}
}
