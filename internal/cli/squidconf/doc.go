// Package squidconf converts a squid.conf to a configuration of urnd. A squid.conf and the files that it
// names enter; YAML, and a list of lost lines with alternatives, leave. There is no specification: lines are
// parsed like Squid 5.7 parses them.
//
// It has no side effects: the caller passes functions that read files. A directive that cannot be converted
// exactly is reported, and rules never allow more than http_access: an allowing rule allows less, and a
// denying one denies more.
package squidconf
