package httpcache

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// directivesOf returns the directives of a response for this cache, and whether they are those of
// a targeted field, which replaces Cache-Control: RFC 9213 section 2.2. They may be appended to room.
func (c *Cache) directivesOf(r *Request, header httpmessage.Fields, room cachecontrol.Directives) (d cachecontrol.Directives, targeted bool) {
	if r.Gateway {
		for _, name := range c.config.Targeted {
			if lines := header.Lines(name); len(lines) > 0 {
				if d, ok := targetedDirectives(lines); ok {
					return d, true
				}
			}
		}
	}
	return cachecontrol.Append(room, header.Lines("Cache-Control")), false
}

// targetedDirectives parses a targeted field, a Dictionary of RFC 9651. One that is invalid or empty
// is ignored: RFC 9213 section 2.1.
func targetedDirectives(lines []string) (cachecontrol.Directives, bool) {
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil || len(dictionary.Names()) == 0 {
		return nil, false
	}
	var d cachecontrol.Directives
	for _, name := range dictionary.Names() {
		member, _ := dictionary.Get(name)
		item, ok := member.(httpsfv.Item)
		if !ok {
			continue
		}
		switch value := item.Value.(type) {
		case bool:
			if value {
				d = append(d, cachecontrol.Directive{Name: name})
			}
		case int64:
			d = append(d, cachecontrol.Directive{Name: name, Argument: itoa(value), HasArgument: true})
		default:
			return nil, false // no directive has such an argument
		}
	}
	return d, true
}

// storedResponse returns what is stored of a response, without its content; nil for a part whose
// place is not known.
func (c *Cache) storedResponse(r *Request, response *httpmessage.Response, at arrival) *stored {
	var room [4]cachecontrol.Directive
	control, targeted := c.directivesOf(r, response.Fields, room[:0])
	var fields [24]httpmessage.Field
	header := storedFields(fields[:0], response.Fields, control)
	date, ok := parseDate(response.Fields.Value("Date"))
	if !ok {
		date = at.received.Truncate(time.Second)
		dated := header.Clone()
		dated.Set("Date", at.received.UTC().Format(http.TimeFormat)) // RFC 9110 section 6.6.1
		header = dated
	}
	s := &stored{record: record{
		status: response.Status, reason: reasonOf(response), spelling: strings.Clone(r.Spelling), header: compacted(header), date: secondOf(date),
		selectors: selectorsOf(response.Fields, r.Fields), received: at.received, length: response.ContentLength, from: response.From,
		basis: c.config.Basis, uses: new(uses),
	}}
	s.etag = s.header.Value("Etag")
	modified, _ := dateOf(s.header.Lines("Last-Modified"))
	s.modified = secondOf(modified)
	var names []string
	s.directives, names = directivesOf(control)
	s.validatedOnly = validatedOnly(namesIn(s.header, names))
	s.freshness = freshnessOf(response.Status, response.Fields, control, targeted, date, c.config.Heuristic)
	s.initialAge = initialAge(response.Fields, date, at.requested, at.received)
	if s.isPartial() {
		if s.part, s.length, ok = contentRange(response.Fields); !ok {
			return nil
		}
	} else {
		s.part = span{0, s.length}
	}
	return s
}

// reasonOf returns the words of the status of a response, in memory that is not that of the response.
func reasonOf(response *httpmessage.Response) string {
	if text := http.StatusText(response.Status); text == response.Reason {
		return text
	}
	return strings.Clone(response.Reason)
}

// isUseful reports whether a response could be used later.
func (s *stored) isUseful() bool { return s.explicit || s.lifetime > 0 || s.hasValidator() }

// replaces reports whether the same requests select a response and an older one.
func (s *stored) replaces(other *stored) bool {
	if s.spelling != other.spelling || !slices.EqualFunc(s.selectors, other.selectors, selector.selectsSame) {
		return false
	}
	switch {
	case !s.isPartial():
		return true
	case other.isPartial():
		return !s.isBeside(other)
	default: // a part does not replace the whole that it is a part of
		return s.etag != other.etag
	}
}
