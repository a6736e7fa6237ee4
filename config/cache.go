package config

import (
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// checkHarmlessFields refuses what is no name of a field, and names that the cache has rules for.
func checkHarmlessFields(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		stem, isPrefix := strings.CutSuffix(name, "*")
		switch folded := strings.ToLower(strings.ReplaceAll(stem, "_", "-")); {
		case !httpguts.ValidHeaderFieldName(stem) || strings.Contains(stem, "*"):
			f.Add(index(path, i), "%q is not the name of a field, which may end with * (RFC 9110 section 5.1)", name)
		case isPrefix && len(stem) < 3:
			f.Add(index(path, i), "%q stands for too many fields: write at least three characters before *", name)
		case standsFor(handledFields[:], folded, isPrefix), isPrefix && strings.HasPrefix("content-type", folded): // alone it may be listed
			f.Add(index(path, i), "%q has rules of its own in the cache (RFC 9111), which cannot be turned off", name)
		}
	}
}

// handledFields are fields of requests by which clients get what others must not get.
var handledFields = [...]string{
	"authorization", "cookie", "host", "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
	"cache-control", "pragma", "origin",
}

// standsFor reports whether a name is one of several, or the beginning of one.
func standsFor(names []string, name string, isPrefix bool) bool {
	return slices.ContainsFunc(names, func(one string) bool { return one == name || isPrefix && strings.HasPrefix(one, name) })
}

// decidingFields are fields by which frameworks and proxies of origins replace the method, the URI, the host or the client of a request,
// besides all x-forwarded-* and all that end with -override.
var decidingFields = [...]string{
	"forwarded", "x-forwarded-", "x-real-ip", "x-http-method", "x-http-method-override", "x-method-override",
	"x-host", "x-original-host", "x-original-url", "x-rewrite-url",
}

// isDeciding reports whether a field is often not harmless: what an origin makes of it would be stored for all.
func isDeciding(_ checked, name string) bool {
	stem, isPrefix := strings.CutSuffix(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "*")
	return standsFor(decidingFields[:], stem, isPrefix) || strings.HasPrefix(stem, "x-forwarded-") || strings.HasSuffix(stem, "-override")
}

func checkDirectory(f *Faults, path string, value any) {
	if directory, _ := value.(string); directory != "" && !strings.HasPrefix(directory, "/") {
		f.Add(path, "%q does not begin with a slash", directory)
	}
}
