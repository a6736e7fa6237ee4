package rules

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// forAll are fields of responses that are intended for all recipients, in lower case, as those of requests are that
// httpmessage.EndToEnd says. Where Connection names them they stay: without no-store or Vary the cache would believe in
// another message than the one that was sent.
var forAll = [...]string{
	// What may be stored and used: RFC 9111, RFC 9875, and the Edge Architecture.
	"age", "date", "expires", "surrogate-control", "vary", "warning", "surrogate-key", "cache-tag", "cache-groups",
	"cache-group-invalidation", "cache-status", "proxy-status",
	// What the content is: RFC 9110 sections 8 and 10.
	"etag", "last-modified", "location", "retry-after", "allow", "link",
	// Who requests it: RFC 9110 section 11, RFC 6265.
	"www-authenticate", "authentication-info", "set-cookie",
	// What a browser allows.
	"strict-transport-security", "referrer-policy", "x-content-type-options", "x-frame-options",
}

// intendedForAll reports whether a field, in lower case, is known to be intended for all recipients, so that Connection
// must not name it: RFC 9110 section 7.6.1.
func intendedForAll(name string) bool {
	return httpmessage.UseOf(name)&httpmessage.EndToEnd != 0 || slices.Contains(forAll[:], name) ||
		strings.HasSuffix(name, "cache-control") || // RFC 9213 section 2
		strings.HasPrefix(name, "cross-origin-")
}

// EndToEnd returns a copy of fields without those of the connection that they came by, which are neither
// stored nor forwarded. It may be changed.
func EndToEnd(fields httpmessage.Fields) httpmessage.Fields {
	const spare = 4 // who copies fields mostly adds some
	return AppendEndToEnd(make(httpmessage.Fields, 0, len(fields)+spare), fields)
}

// AppendEndToEnd is EndToEnd that appends the copy to other fields, the memory of which may be that of fields itself.
func AppendEndToEnd(to, fields httpmessage.Fields) httpmessage.Fields {
	named := namedFields(fields)
	for _, f := range fields {
		if !hopField(f) && (len(named) == 0 || !named[asciiLower(f.Name)]) {
			to = append(to, f)
		}
	}
	return to
}

// hopField reports whether a field is of one connection, whether Connection names it or not.
func hopField(f httpmessage.Field) bool { return httpmessage.UseOf(f.Name)&httpmessage.HopByHop != 0 }

// namedFields returns the fields that a message has for one connection only since Connection names them, in lower case.
func namedFields(fields httpmessage.Fields) map[string]bool {
	var named map[string]bool
	for _, line := range fields.Lines("Connection") {
		if line == "close" || line == "keep-alive" { // as most are
			continue
		}
		for option := range strings.SplitSeq(line, ",") {
			if option = asciiLower(trimSpace(option)); hopOption(option) || intendedForAll(option) {
				continue
			}
			if named == nil {
				named = make(map[string]bool)
			}
			named[option] = true
		}
	}
	return named
}

// hopOption reports whether an option of Connection, in lower case, is known to be of one connection.
func hopOption(option string) bool {
	return option == "" || option == "close" || hopField(httpmessage.Field{Name: option})
}
