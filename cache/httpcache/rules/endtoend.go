package rules

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// forAll are response fields intended for all recipients, in lower case; httpmessage.EndToEnd has those of
// requests. They are retained even if Connection names them: without no-store or Vary, for example, the cache
// would act on a different message than the one sent.
var forAll = [...]string{
	// Storing and reuse: RFC 9111, RFC 9875, and the Edge Architecture.
	"age", "date", "expires", "surrogate-control", "vary", "warning", "surrogate-key", "cache-tag", "cache-groups",
	"cache-group-invalidation", "cache-status", "proxy-status",
	// The content: RFC 9110 sections 8 and 10.
	"etag", "last-modified", "location", "retry-after", "allow", "link",
	// Authentication and cookies: RFC 9110 section 11, RFC 6265.
	"www-authenticate", "authentication-info", "set-cookie",
	// Browser policies.
	"strict-transport-security", "referrer-policy", "x-content-type-options", "x-frame-options",
}

// intendedForAll reports whether a field, in lower case, is known to be intended for all recipients, so that
// Connection must not name it: RFC 9110 section 7.6.1.
func intendedForAll(name string) bool {
	return httpmessage.UseOf(name)&httpmessage.EndToEnd != 0 || slices.Contains(forAll[:], name) ||
		strings.HasSuffix(name, "cache-control") || // RFC 9213 section 2
		strings.HasPrefix(name, "cross-origin-")
}

// EndToEnd returns a copy of fields without the hop-by-hop fields, which are neither stored nor forwarded. The
// caller may change it.
func EndToEnd(fields httpmessage.Fields) httpmessage.Fields {
	const spare = 4 // most callers append some fields
	return AppendEndToEnd(make(httpmessage.Fields, 0, len(fields)+spare), fields)
}

// AppendEndToEnd is EndToEnd that appends the copy to "to", which may share the memory of fields.
func AppendEndToEnd(to, fields httpmessage.Fields) httpmessage.Fields {
	named := namedFields(fields)
	for _, f := range fields {
		if !hopField(f) && (len(named) == 0 || !named[asciiLower(f.Name)]) {
			to = append(to, f)
		}
	}
	return to
}

// hopField reports whether a field is hop-by-hop, even if Connection does not name it.
func hopField(f httpmessage.Field) bool { return httpmessage.UseOf(f.Name)&httpmessage.HopByHop != 0 }

// namedFields returns the names, in lower case, of the fields that are hop-by-hop only because Connection names
// them.
func namedFields(fields httpmessage.Fields) map[string]bool {
	var named map[string]bool
	for _, line := range fields.Values("Connection") {
		if line == "close" || line == "keep-alive" { // the usual values
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

// hopOption reports whether an option of Connection, in lower case, is known to be hop-by-hop.
func hopOption(option string) bool {
	return option == "" || option == "close" || hopField(httpmessage.Field{Name: option})
}
