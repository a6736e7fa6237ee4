package gopher

import "strings"

// item is a line of a menu, undecoded: RFC 1436 appendix.
type item struct {
	kind                       byte
	name, selector, host, port string
	extra                      string // "+" or "?" of Gopher+ section 2.2; "" for none
}

// parseItem parses a line without its end. ok is false for a line that is not an item: it has no tab, or no
// type.
func parseItem(line string) (i item, ok bool) {
	const fields = 6 // including anything after the Gopher+ field
	parts := strings.SplitN(line, "\t", fields)
	if len(parts) < 2 || parts[0] == "" {
		return item{}, false
	}
	parts = append(parts, "", "", "", "")
	return item{
		kind: parts[0][0], name: parts[0][1:], selector: parts[1],
		host: strings.TrimSpace(parts[2]), port: strings.TrimSpace(parts[3]), extra: strings.TrimSpace(parts[4]),
	}, true
}
