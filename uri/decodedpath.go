package uri

import (
	"bytes"
	"slices"
	"strings"
)

// DecodedPath returns a path as most file servers look it up: percent-decoded once, without empty segments,
// then without dot segments (RFC 3986 section 5.2.4). The result serves for comparison only: it may contain any
// bytes, so it is not the path of a URI. "" stays "".
func DecodedPath(path string) string {
	if IsPlainPath(path) {
		return path
	}
	return string(withoutDots(merged(decodedBut(path, ""))))
}

// IsPlainPath reports whether all servers interpret a path alike: it has no percent-encodings, empty segments,
// dot segments, parameters of segments, or backslashes.
func IsPlainPath(path string) bool {
	return !strings.ContainsAny(path, `%;\`) && !strings.Contains(path, "//") && !strings.Contains(path, "/.")
}

// PathReadings returns the possible interpretations of a path by servers, each in the form of DecodedPath,
// which is the first. "%2F" may be a slash or not, empty segments may be removed before or after dot segments,
// parameters after ";" may belong to a segment or not, and "\" may be a slash. Access control by path in front
// of other servers must consider all of them.
func PathReadings(path string) []string {
	if IsPlainPath(path) {
		return []string{path}
	}
	decoded, literal := decodedBut(path, ""), decodedBut(path, `/\`)
	parameterless := withoutParameters(bytes.ReplaceAll(decoded, []byte(`\`), []byte("/")))
	readings := []string{DecodedPath(path)}
	for _, reading := range [...][]byte{
		merged(withoutDots(slices.Clone(decoded))), withoutDots(merged(slices.Clone(literal))),
		merged(withoutDots(literal)),
		withoutDots(merged(parameterless)),
	} {
		if !slices.Contains(readings, string(reading)) {
			readings = append(readings, string(reading))
		}
	}
	return readings
}

// decodedBut returns a path percent-decoded once, except for the characters in kept.
func decodedBut(path, kept string) []byte {
	decoded := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if isTriple(path, i) {
			if value := unhex(path[i+1])<<4 | unhex(path[i+2]); strings.IndexByte(kept, value) < 0 {
				c, i = value, i+2
			}
		}
		decoded = append(decoded, c)
	}
	return decoded
}

// merged removes the empty segments of a path in place, except for the last one.
func merged(path []byte) []byte {
	return slices.CompactFunc(path, func(a, b byte) bool { return a == '/' && b == '/' })
}

// withoutDots removes the dot segments of a path, in place.
func withoutDots(path []byte) []byte { return removeDotSegments(path, 0, true) }

// withoutParameters removes the parameters after ";" from the segments of a path (RFC 3986 section 3.3), in
// place.
func withoutParameters(path []byte) []byte {
	isParameter := false
	return slices.DeleteFunc(path, func(c byte) bool {
		isParameter = c != '/' && (isParameter || c == ';')
		return isParameter
	})
}
