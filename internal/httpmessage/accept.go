package httpmessage

import (
	"mime"
	"strconv"
	"strings"
)

// MediaRange is an element of Accept: RFC 9110 section 12.5.1.
type MediaRange struct {
	Type    string // "text/html", "text/*" or "*/*", in lower case
	Quality float64
}

// maxRanges bounds the elements of Accept that are read.
const maxRanges = 50

// MediaRanges returns the elements of Accept in their order. Those that are not valid are left out.
func MediaRanges(accept string) (all []MediaRange) {
	for element := range strings.SplitSeq(accept, ",") {
		kind, parameters, err := mime.ParseMediaType(strings.TrimSpace(element))
		if err != nil {
			continue
		}
		if q, ok := Quality(parameters["q"]); ok {
			all = append(all, MediaRange{kind, q})
		}
		if len(all) == maxRanges {
			break
		}
	}
	return all
}

// Quality parses a quality, which is 1 where it is missing: RFC 9110 section 12.4.2.
func Quality(text string) (float64, bool) {
	if text == "" {
		return 1, true
	}
	q, err := strconv.ParseFloat(text, 64)
	return q, err == nil && q >= 0 && q <= 1
}
