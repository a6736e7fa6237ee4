package registry

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Difference is one difference between two records, in words for people.
type Difference struct {
	Field string // "status", "target"
	// Before and After are the values. Before is "" for what was added, After for what was removed.
	Before, After string
}

// Differences returns how a record differs from the one before it, in the order of the fields of
// Record; nil if they are equal but for Since.
func Differences(before, after Record) []Difference {
	var all []Difference
	add := func(field, before, after string) {
		if before != after {
			all = append(all, Difference{field, before, after})
		}
	}
	add("status", before.Status.String(), after.Status.String())
	add("reason", before.Reason, after.Reason)
	all = appendLists(all, "successor", before.Successors, after.Successors)
	add("alias of", before.Alias, after.Alias)
	all = appendLists(all, "target", textsOf(before.Targets), textsOf(after.Targets))
	add("metadata", before.Metadata, after.Metadata)
	add("contact", before.Contact, after.Contact)
	add("redirect", textOfRedirect(before.Redirect), textOfRedirect(after.Redirect))
	add("pattern", before.Pattern, after.Pattern)
	add("authoritative", textOfBool(before.Authoritative), textOfBool(after.Authoritative))
	add("sandbox", textOfBool(before.Sandbox), textOfBool(after.Sandbox))
	return all
}

// appendLists appends what is in only one of two lists, or that only their order differs.
func appendLists(all []Difference, field string, before, after []string) []Difference {
	n := len(all)
	for _, text := range before {
		if !slices.Contains(after, text) {
			all = append(all, Difference{Field: field, Before: text})
		}
	}
	for _, text := range after {
		if !slices.Contains(before, text) {
			all = append(all, Difference{Field: field, After: text})
		}
	}
	if len(all) == n && !slices.Equal(before, after) {
		all = append(all, Difference{"order of each " + field, strings.Join(before, ", "), strings.Join(after, ", ")})
	}
	return all
}

func textsOf(targets []Target) []string {
	texts := make([]string, len(targets))
	for i, t := range targets {
		texts[i] = t.String()
	}
	return texts
}

// String returns the URI, and in parentheses all else that is known.
func (t Target) String() string {
	var about []string
	for _, text := range []string{t.Rel, t.Type, t.Language} {
		if text != "" {
			about = append(about, text)
		}
	}
	if t.Context != "" {
		about = append(about, "context "+t.Context)
	}
	if t.Title != "" {
		about = append(about, "title "+strconv.Quote(t.Title))
	}
	if t.Priority != 0 {
		about = append(about, "priority "+strconv.Itoa(t.Priority))
	}
	if !t.From.IsZero() {
		about = append(about, "from "+t.From.Format(time.RFC3339))
	}
	if !t.Until.IsZero() {
		about = append(about, "until "+t.Until.Format(time.RFC3339))
	}
	if t.Note != "" {
		about = append(about, strconv.Quote(t.Note))
	}
	if len(about) == 0 {
		return t.URI
	}
	return t.URI + " (" + strings.Join(about, ", ") + ")"
}

func textOfBool(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
