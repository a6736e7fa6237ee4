package rules

import (
	"strconv"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Control are the directives of a response that apply to this cache.
type Control struct {
	cachecontrol.Directives
	// Targeted is whether they come from a targeted field, which replaces Cache-Control: RFC 9213 section 2.2.
	Targeted bool
	// SetsCookies is whether the response sets cookies, or the response that it updates or completes did.
	SetsCookies bool
	authorized  bool      // the request has Authorization; set only with an override
	override    *Override // nil for none
}

// NewControl returns the directives of a response: those of the first valid field of targeted, otherwise those
// of Cache-Control. They may be appended to scratch.
func NewControl(targeted []string, header httpmessage.Fields, scratch cachecontrol.Directives) Control {
	for _, name := range targeted {
		if lines := header.Values(name); len(lines) > 0 {
			if d, ok := targetedDirectives(lines); ok {
				return Control{Directives: d, Targeted: true, SetsCookies: header.Has("Set-Cookie")}
			}
		}
	}
	d := cachecontrol.Append(scratch, header.Values("Cache-Control"))
	return Control{Directives: d, SetsCookies: header.Has("Set-Cookie")}
}

// targetedDirectives parses a targeted field, a Dictionary of RFC 9651. An invalid or empty field is ignored:
// RFC 9213 section 2.1.
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
			d = append(d, cachecontrol.Directive{Name: name, Argument: strconv.FormatInt(value, 10), HasArgument: true})
		default:
			return nil, false // no directive has an argument of this type
		}
	}
	return d, true
}

// Directives are the directives of a stored response that limit or extend its reuse.
type Directives struct {
	NoCache         bool // without field names
	MustRevalidate  bool // not reusable while stale: must-revalidate, proxy-revalidate, s-maxage, no-cache
	Immutable       bool
	WhileRevalidate time.Duration // RFC 5861; 0 for none
	IfError         time.Duration // RFC 5861; -1 for none
}

// directivesOf returns the reuse directives of a response, and the field names of no-cache.
func directivesOf(d Control) (Directives, []string) {
	names := d.Fields("no-cache")
	_, sMaxAge := d.Seconds("s-maxage")
	// with Override.MinLifetime, no-cache is ignored
	all := d.Has("no-cache") && len(names) == 0 && d.minLifetime() == 0
	whileRevalidate, reported := d.Seconds("stale-while-revalidate")
	if !reported && d.override != nil {
		whileRevalidate = max(d.override.WhileRevalidate, 0)
	}
	ifError, limited := d.Seconds("stale-if-error")
	if !limited {
		ifError = -1
	}
	return Directives{
		NoCache:        all,
		MustRevalidate: all || sMaxAge || d.Has("must-revalidate") || d.Has("proxy-revalidate"),
		Immutable:      d.Has("immutable"), WhileRevalidate: whileRevalidate, IfError: ifError,
	}, names
}
