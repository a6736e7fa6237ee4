package webserver

import (
	"mime"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// accepted is a value of the field Accept by which rules are compared: conditions are expressions over it, and the registry has
// targets of media types.
type accepted struct {
	header    string
	mediaType string // where the value is one media type that conditions name
}

// browser is what browsers send.
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// maxAccepts is how many values there are at most.
const maxAccepts = 60

// acceptedTypes returns the values of Accept that tell conditions apart: none, all, one that nobody names, and each media type.
func acceptedTypes(types []string) []accepted {
	all := []accepted{{}, {header: "*/*"}, {header: "application/x-other"}, {header: browser}}
	seen := map[string]bool{}
	for _, t := range types {
		if parsed, _, err := mime.ParseMediaType(t); err != nil || parsed != t || seen[t] || strings.Contains(t, "*") || len(all) == maxAccepts {
			continue
		}
		seen[t] = true
		all = append(all, accepted{t, t})
	}
	return all
}

// chosen returns the number of the target that clients are redirected to which accept a value, as urnd chooses it: the best one, and of equal ones
// the first; a target without a media type is as good as */*.
func chosen(targets []registry.Target, header string) (best int) {
	most := -1.0
	for n, t := range targets {
		q := 1.0
		switch {
		case header == "":
		case header == browser:
			q = map[bool]float64{true: 1, false: 0.8}[t.Type == "text/html" || t.Type == "application/xhtml+xml"]
			if t.Type == "application/xml" {
				q = 0.9
			}
		case t.Type == "" && header != "*/*":
			q = 0.01
		case header != "*/*" && t.Type != header:
			q = 0.001
		}
		if q > most {
			best, most = n, q
		}
	}
	return best
}
