package uri

import (
	"bytes"
	"slices"
	"strings"
)

// DecodedPath returns a path as most servers of files look it up: percent-decoded once, without empty segments, and then without dot
// segments (RFC 3986 section 5.2.4). It is for comparing, and no path of a URI: it may have any bytes. "" stays "".
func DecodedPath(path string) string {
	if IsPlainPath(path) {
		return path
	}
	return string(withoutDots(merged(decodedBut(path, ""))))
}

// IsPlainPath reports whether all servers read a path in the same way: it has no encoded characters, empty segments, dot segments,
// parameters of segments and backslashes.
func IsPlainPath(path string) bool {
	return !strings.ContainsAny(path, `%;\`) && !strings.Contains(path, "//") && !strings.Contains(path, "/.")
}

// PathReadings returns what servers may take a path for, as paths like those of DecodedPath, which is the first one: "%2F" is a slash or
// none, empty segments are removed before dot segments or after them, and what follows ";" in a segment belongs to it or not; "\" may
// be a slash. Who decides by a path who may ask for it, in front of servers that decide for themselves what it means, decides for
// all of these.
func PathReadings(path string) []string {
	if IsPlainPath(path) {
		return []string{path}
	}
	decoded, literal := decodedBut(path, ""), decodedBut(path, `/\`)
	parameterless := withoutParameters(bytes.ReplaceAll(decoded, []byte(`\`), []byte("/")))
	readings := []string{DecodedPath(path)}
	for _, reading := range [...][]byte{
		merged(withoutDots(slices.Clone(decoded))), withoutDots(merged(slices.Clone(literal))), merged(withoutDots(literal)),
		withoutDots(merged(parameterless)),
	} {
		if !slices.Contains(readings, string(reading)) {
			readings = append(readings, string(reading))
		}
	}
	return readings
}

// decodedBut returns a path percent-decoded once, but for some characters.
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

// merged removes the empty segments of a path, in place, but for the last one.
func merged(path []byte) []byte {
	return slices.CompactFunc(path, func(a, b byte) bool { return a == '/' && b == '/' })
}

// withoutDots removes the dot segments of a path, in place.
func withoutDots(path []byte) []byte { return removeDotSegments(path, 0, true) }

// withoutParameters removes what follows ";" in the segments of a path (RFC 3986 section 3.3), in place.
func withoutParameters(path []byte) []byte {
	isParameter := false
	return slices.DeleteFunc(path, func(c byte) bool {
		isParameter = c != '/' && (isParameter || c == ';')
		return isParameter
	})
}
