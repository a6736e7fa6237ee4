package rules

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// hopFields are the fields of one connection: RFC 9110 section 7.6.1. Those for the authentication of
// a proxy are consumed by it.
var hopFields = [...]string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Transfer-Encoding", "Upgrade", "Trailer",
	"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info", "Http2-Settings",
}

// forAll are fields that are intended for all recipients, in lower case, which Connection must not name (RFC 9110
// section 7.6.1). Where it does so they stay: a client that leaves out no-store, Vary or a credential by it would make
// the cache believe in another message than the one that was sent.
var forAll = [...]string{
	// What may be stored and used: RFC 9111, RFC 9213, RFC 9875, and the Edge Architecture.
	"age", "date", "expires", "pragma", "surrogate-control", "vary", "warning", "surrogate-key", "cache-tag",
	"cache-groups", "cache-group-invalidation", "cache-status", "proxy-status",
	// What the content is, and how it is selected: RFC 9110 sections 8, 10, 12 to 14.
	"etag", "last-modified", "location", "range", "retry-after", "allow", "link", "prefer",
	"user-agent", "referer", "origin", "from", "expect",
	// Who requests what of whom: RFC 9110 sections 7 and 11, RFC 6265, RFC 7239.
	"host", "authorization", "www-authenticate", "authentication-info", "cookie", "set-cookie", "via", "cdn-loop",
	"max-forwards", "forwarded", "x-real-ip",
	// What a browser allows.
	"strict-transport-security", "referrer-policy", "x-content-type-options", "x-frame-options",
}

// forAllPrefixes are what the names of others begin with.
var forAllPrefixes = [...]string{
	"accept", "access-control-", "content-", "cross-origin-", "if-", "sec-", "x-forwarded-",
}

// intendedForAll reports whether a field, in lower case, is known to be intended for all recipients.
func intendedForAll(name string) bool {
	return slices.Contains(forAll[:], name) || strings.HasSuffix(name, "cache-control") || // RFC 9213 section 2
		slices.ContainsFunc(forAllPrefixes[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
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

// hopField reports whether a field is one of hopFields.
func hopField(f httpmessage.Field) bool {
	return slices.ContainsFunc(hopFields[:], f.Is)
}

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
	return option == "" || option == "close" ||
		slices.ContainsFunc(hopFields[:], func(name string) bool { return strings.EqualFold(name, option) })
}
