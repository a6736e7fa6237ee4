package webserver

import (
	"mime"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// accepted is a sample value of the header field Accept. Conditions on Accept are evaluated for each sample,
// and the results are compared with targets that have media types.
type accepted struct {
	header    string
	mediaType string // set if the sample is a media type that conditions name
}

// browser is the Accept of browsers.
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// maxAccepts bounds the samples.
const maxAccepts = 60

// acceptedTypes returns the samples of Accept that distinguish conditions: no header field, all types, an
// unnamed type, a browser, and each named media type.
func acceptedTypes(types []string) []accepted {
	all := []accepted{{}, {header: "*/*"}, {header: "application/x-other"}, {header: browser}}
	seen := map[string]bool{}
	for _, t := range types {
		if parsed, _, err := mime.ParseMediaType(t); err != nil || parsed != t || seen[t] || strings.Contains(t, "*") ||
			len(all) == maxAccepts {
			continue
		}
		seen[t] = true
		all = append(all, accepted{t, t})
	}
	return all
}

// chosen returns the index of the target that urnd selects for a value of Accept: the best one, and of equal
// ones the first. A target without a media type matches like */*.
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
