package rules

import (
	"strconv"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Control are the directives of a response for this cache.
type Control struct {
	cachecontrol.Directives
	// Targeted is whether they are those of a targeted field, which replaces Cache-Control: RFC 9213 section 2.2.
	Targeted bool
	// SetsCookies is whether the response sets cookies, or what it updates or completes has done so.
	SetsCookies bool
	authorized  bool      // the request has Authorization; known where there is an override
	override    *Override // nil for none
}

// NewControl returns the directives of a response, of the first field of targeted that is valid, or else of
// Cache-Control. They may be appended to scratch.
func NewControl(targeted []string, header httpmessage.Fields, scratch cachecontrol.Directives) Control {
	for _, name := range targeted {
		if lines := header.Lines(name); len(lines) > 0 {
			if d, ok := targetedDirectives(lines); ok {
				return Control{Directives: d, Targeted: true, SetsCookies: header.Has("Set-Cookie")}
			}
		}
	}
	d := cachecontrol.Append(scratch, header.Lines("Cache-Control"))
	return Control{Directives: d, SetsCookies: header.Has("Set-Cookie")}
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
			d = append(d, cachecontrol.Directive{Name: name, Argument: strconv.FormatInt(value, 10), HasArgument: true})
		default:
			return nil, false // no directive has such an argument
		}
	}
	return d, true
}

// Directives are what Cache-Control of a stored response says about its use.
type Directives struct {
	NoCache         bool // without names
	MustRevalidate  bool // stale it must not be used: must-revalidate, proxy-revalidate, s-maxage, no-cache
	Immutable       bool
	WhileRevalidate time.Duration // RFC 5861; 0 for none
	IfError         time.Duration // likewise; -1 for none
}

// directivesOf returns what the directives of a response say about its use.
func directivesOf(d Control) (Directives, []string) {
	names := d.Fields("no-cache")
	_, sMaxAge := d.Seconds("s-maxage")
	all := d.Has("no-cache") && len(names) == 0 && d.least() == 0 // or else it is as if the origin had not said it
	whileRevalidate, said := d.Seconds("stale-while-revalidate")
	if !said && d.override != nil {
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
