package service

import (
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
)

// ParseSearch parses a search from the query parameters of the API and of pages. Prefix and AliasOf need not be
// canonical, as in all searches of a Service. The time limit is up to the Service.
func ParseSearch(kind registry.Kind, get func(name string) string) (s registry.Search, err error) {
	s = registry.Search{
		Kind: kind, Prefix: get("prefix"), AliasOf: get("alias_of"), Target: get("target"), Text: get("text"),
		Title: get("title"), Tag: get("tag"),
	}
	if err := s.Validate(); err != nil {
		return s, selection("search_title", "title", "title: %w", err)
	}
	if text := get("status"); text != "" {
		for word := range strings.SplitSeq(text, ",") {
			var status registry.Status
			if err := status.UnmarshalText([]byte(word)); err != nil || word == "" {
				return s, selection("search_status", "status",
					"status must be active, reserved or withdrawn, or several, separated by commas")
			}
			s.Statuses = append(s.Statuses, status)
		}
	}
	if text := get("metadata"); text != "" {
		if s.Member, s.Value, _ = strings.Cut(text, "="); s.Member == "" {
			return s, selection("search_metadata", "metadata",
				"metadata must be a member, or a member and its value, such as title=Kalevala")
		}
	}
	return s, nil
}

// selection returns the ErrSelection of a parameter.
func selection(code, parameter, format string, args ...any) error {
	return &registry.Error{
		Class: registry.ErrInvalidParameters, Code: code, Field: parameter,
		Reason: fmt.Errorf(format, args...),
	}
}

// ParseChangeFilter parses the selection of change sets from the parameters by, prefix, since, until and order.
func ParseChangeFilter(get func(name string) string) (c ChangeFilter, err error) {
	c = ChangeFilter{Prefix: get("prefix"), By: get("by"), NewestFirst: get("order") == "newest"}
	if c.Since, err = parameter("since", get("since"), plaintext.ParseTime); err == nil {
		c.Until, err = parameter("until", get("until"), plaintext.ParseTimeEnd)
	}
	if order := get("order"); err == nil && order != "" && order != "oldest" && order != "newest" {
		err = fmt.Errorf("%w: order must be oldest or newest", registry.ErrInvalidParameters)
	}
	return c, err
}

// ParseTime parses the parameter "at": a time, or a day, which stands for its end; "" is the zero value.
func ParseTime(at string) (time.Time, error) { return parameter("at", at, plaintext.ParseTimeEnd) }

// parameter parses the time in a parameter; "" is the zero value.
func parameter(name, value string, parse func(string) (time.Time, error)) (t time.Time, err error) {
	if value != "" {
		if t, err = parse(value); err != nil {
			err = selection("time_malformed", name, "%s: %w", name, err)
		}
	}
	return t, err
}

// ParseDays parses the first and the last day from the parameters since and until; "" is the zero value.
func ParseDays(get func(name string) string) (since, until time.Time, err error) {
	if since, err = parameter("since", get("since"), plaintext.ParseDay); err == nil {
		until, err = parameter("until", get("until"), plaintext.ParseDay)
	}
	return since, until, err
}
