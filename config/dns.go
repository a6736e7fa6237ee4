package config

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

func checkDomainList(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if !isDomain(name) {
			f.Add(index(path, i), "%q is not a domain name such as urn.arpa.%s", name, writeHost(name, "there are no patterns: list each name"))
		} else if slices.IndexFunc(names, func(other string) bool { return uri.SameHost(name, other) }) != i {
			f.Add(index(path, i), "%q is named twice", name)
		}
	}
}

// isDomain checks the text form of a DNS name: RFC 1035 section 2.3.4 bounds
// it, and hosts' names have letters, digits and hyphens.
func isDomain(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, isNoDomain) {
			return false
		}
	}
	return true
}

// isNoDomain reports whether a character is in no label.
func isNoDomain(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
}
