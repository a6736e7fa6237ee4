package httpcache

import (
	"strings"
	"time"
)

// class is the kind of requests that wait for each other: what one of them is answered is probably for the
// others too. It is comparable.
type class struct {
	kind
	// selecting are the values of the fields that the stored responses are selected by.
	selecting string
}

// kind is what is known of requests that could wait for each other before anything is stored.
type kind struct {
	// cookie is whether they have cookies, by which an origin may take longer, or answer for one client.
	cookie bool
	// spelling is Request.Spelling.
	spelling string
}

// maxKinds bounds the kinds of an entry that do not wait.
const maxKinds = 32

// alone returns the entry with another kind of requests that do not wait for each other until a time. Those whose time has
// passed are left out, and of too many the one whose time passes first, but for those of the normal spelling without cookies.
func (e *Entry) alone(of kind, now, until time.Time) *Entry {
	after := e.copied()
	after.uncollapsed = map[kind]time.Time{of: until}
	var first kind
	for other, end := range e.copied().uncollapsed {
		if other == of || !now.Before(end) {
			continue
		}
		after.uncollapsed[other] = end
		if other != (kind{}) && (first == (kind{}) || end.Before(after.uncollapsed[first])) {
			first = other
		}
	}
	if len(after.uncollapsed) > maxKinds {
		delete(after.uncollapsed, first)
	}
	return after
}

// class returns the class of a request.
func (x *exchange) class() class {
	of := class{kind: kind{cookie: x.r.Fields.Has("Cookie"), spelling: x.r.Spelling}}
	if x.entry == nil || len(x.entry.variants) == 0 {
		return of
	}
	var b strings.Builder
	for _, one := range x.entry.variants[0].selectors {
		b.WriteString(newSelector(one.name, x.r.Fields.Lines(one.name)).value)
		b.WriteByte('\n') // no value has one
	}
	of.selecting = b.String()
	return of
}

// isPrivate reports whether the response to a request is for its client alone, unless it turns out that its
// Vary names all that could have made it: nobody waits for it, and it changes nothing that is stored.
func (x *exchange) isPrivate() bool {
	unkeyed := x.unkeyed()
	if len(unkeyed) == 0 {
		return false
	}
	return x.entry == nil || len(x.entry.variants) == 0 || !x.entry.variants[0].isSelectedBy(unkeyed)
}
