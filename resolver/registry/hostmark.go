package registry

import (
	"slices"
	"strings"
)

// The hosts of targets are found by marks: short hashes of the host of a target, and of each domain above it that has a dot, so that a domain
// is found by what is below it. What has a mark may have another host, so that it is looked at; what has it not, has not the host.

// mark is a hash of a host, in lower case.
type mark uint16

// hostsOf calls f with each host in a text: what is between "//" and what ends an authority (RFC 3986 section 3.2), also in the
// path of an archive that has other URIs in it. ended is whether something ends it before the text does.
func hostsOf(text string, f func(host string, ended bool)) {
	for {
		at := strings.Index(text, "//")
		if at < 0 {
			return
		}
		text = text[at+len("//"):]
		host, ended := text, false
		if end := strings.IndexAny(text, "/?#"); end >= 0 {
			host, ended = text[:end], true
		}
		host = host[strings.LastIndexByte(host, '@')+1:]
		if bracket := strings.IndexByte(host, ']'); bracket > 0 { // an address of IPv6 has colons
			host = host[:bracket+1]
		} else if port := strings.IndexByte(host, ':'); port >= 0 {
			host = host[:port]
		}
		if host != "" {
			f(host, ended)
		}
	}
}

// appendMarks appends the marks of a host and of the domains above it. Hashing begins at its end, so that all are made at once.
func appendMarks(marks []mark, host string) []mark {
	hash, dots := uint32(fnvOffset), 0
	for i := len(host) - 1; i >= 0; i-- {
		c := host[i]
		if c == '.' {
			if dots > 0 {
				marks = appendMark(marks, hash)
			}
			dots++
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		hash = (hash ^ uint32(c)) * fnvPrime
	}
	return appendMark(marks, hash)
}

// The hash is that of FNV-1a.
const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

func appendMark(marks []mark, hash uint32) []mark {
	m := mark(hash>>16 ^ hash) //nolint:gosec // its lower half
	if slices.Contains(marks, m) {
		return marks
	}
	return append(marks, m)
}

// markOf returns the mark of a host.
func markOf(host string) mark {
	marks := appendMarks(nil, host)
	return marks[len(marks)-1]
}

// marksOf appends the marks of the targets of a name; those of prefixes are few, and are read.
func marksOf(marks []mark, e *Entry) []mark {
	if e.Kind != KindName {
		return marks
	}
	for i := range e.Targets {
		hostsOf(e.Targets[i].URI, func(host string, _ bool) { marks = appendMarks(marks, host) })
	}
	return marks
}
