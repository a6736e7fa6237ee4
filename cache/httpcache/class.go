package httpcache

import "strings"

// class is the kind of requests that wait for each other: what one of them is answered is probably for the
// others too. It is comparable.
type class struct {
	// cookie is whether they have cookies, by which an origin may take longer, or answer for one client.
	cookie bool
	// selecting are the values of the fields that the stored responses are selected by.
	selecting string
}

// index is that of a class in Entry.uncollapsed.
func (c class) index() int {
	if c.cookie {
		return 1
	}
	return 0
}

// class returns the class of a request.
func (x *exchange) class() class {
	of := class{cookie: len(x.r.Header["Cookie"]) > 0}
	if x.entry == nil || len(x.entry.variants) == 0 {
		return of
	}
	var b strings.Builder
	for _, one := range x.entry.variants[0].selectors {
		b.WriteString(newSelector(one.name, x.r.Header[one.name]).value)
		b.WriteByte('\n') // no value has one
	}
	of.selecting = b.String()
	return of
}

// isPrivate reports whether the response to a request is for its client alone, unless it turns out that its
// Vary names all that could have made it: nobody waits for it, and it changes nothing that is stored.
func (x *exchange) isPrivate() bool {
	unkeyed := x.cache.unkeyed(x.r)
	if len(unkeyed) == 0 {
		return false
	}
	return x.entry == nil || len(x.entry.variants) == 0 || !x.entry.variants[0].isSelectedBy(unkeyed)
}

// isSelectedBy reports whether all of some fields select a stored response.
func (s *stored) isSelectedBy(names []string) bool {
	for _, name := range names {
		if !containsSelector(s.selectors, name) {
			return false
		}
	}
	return true
}

func containsSelector(selectors []selector, name string) bool {
	for _, one := range selectors {
		if one.name == name {
			return true
		}
	}
	return false
}
