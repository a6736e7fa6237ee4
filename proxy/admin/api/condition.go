package api

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// etag returns the entity tag of an entry: its version number.
func etag(e registry.Entry) string { return `"` + strconv.Itoa(e.Version) + `"` }

// condition is the precondition of a request on the current entry: RFC 9110 section 13.1.
type condition struct {
	match, none tags // If-Match, If-None-Match
}

// tags are the entity tags of a header field; nil if the field is missing.
type tags []string

// maxTags limits the entity tags of a header field.
const maxTags = 100

func conditionOf(header httpmessage.Header) (c condition, err error) {
	if c.match, err = tagsOf(header, "If-Match"); err == nil {
		c.none, err = tagsOf(header, "If-None-Match")
	}
	return c, err
}

// tagsOf parses a list of entity tags. Tags that this API does not issue do not match, but are no error.
func tagsOf(header httpmessage.Header, name string) (tags, error) {
	if !header.Has(name) {
		return nil, nil
	}
	list := tags{}
	for part := range strings.SplitSeq(header.List(name), ",") {
		part = strings.TrimSpace(part)
		opaque := strings.TrimPrefix(part, "W/")
		if part != "*" && (len(opaque) < 2 || opaque[0] != '"' || opaque[len(opaque)-1] != '"') {
			return nil, fmt.Errorf(`%w: %s must be a quoted version, such as "3", or *`, problem.ErrSelection, name)
		}
		if list = append(list, part); len(list) > maxTags {
			return nil, fmt.Errorf("%w: %s has more than %d entity tags", problem.ErrSelection, name, maxTags)
		}
	}
	return list, nil
}

// has reports whether one of the tags matches an entry. Weak comparison ignores "W/".
func (t tags) has(e registry.Entry, weak bool) bool {
	for _, tag := range t {
		if weak {
			tag = strings.TrimPrefix(tag, "W/")
		}
		if e.Exists() && (tag == "*" || tag == etag(e)) {
			return true
		}
	}
	return false
}

// matches reports whether If-Match is missing or true.
func (c condition) matches(e registry.Entry) bool { return c.match == nil || c.match.has(e, false) }

// isKnown reports whether If-None-Match was sent, and is false.
func (c condition) isKnown(e registry.Entry) bool { return c.none != nil && c.none.has(e, true) }

// check returns ErrConflict if a precondition forbids the change.
func (c condition) check(before registry.Entry) error {
	if c.matches(before) && !c.isKnown(before) {
		return nil
	}
	if !before.Exists() {
		return fmt.Errorf("%w: %s is not registered", registry.ErrConflict, before.Key)
	}
	return fmt.Errorf("%w: %s has version %d", registry.ErrConflict, before.Key, before.Version)
}

// isEmpty reports whether there is no precondition.
func (c condition) isEmpty() bool { return c.match == nil && c.none == nil }
