package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// searchWithin bounds how long a page of a search is looked for: a client goes on with its cursor.
const searchWithin = 5 * time.Second

// searchNames calls found for the entries that a search finds. It waits for its turn as long as a search may take.
func (h *Handler) searchNames(c *call, s registry.Search, found func(registry.Entry) error) (registry.Searched, error) {
	ctx, cancel := context.WithTimeout(c.Context(), searchWithin)
	defer cancel()
	release, err := h.searches.Wait(ctx, c.actor.Token)
	if err != nil {
		return registry.Searched{}, fmt.Errorf("%w: %d searches of the registry run already, or %d with this token; try again later",
			resolver.ErrBusy, maxSearches, maxSearchesOfToken)
	}
	defer release()
	s.Within = searchWithin
	return h.config.Registry.Names.Search(c.Context(), s, found)
}

// filters are the parameters that choose entries.
func filters() []string {
	return []string{"prefix", "status", "target", "text", "title", "tag", "metadata", "alias_of"}
}

// search returns what the parameters of a request choose, and whether that is more than a prefix.
func (h *Handler) search(c *call, given map[string]string) (s registry.Search, filtered bool, err error) {
	names := h.config.Registry.Names
	s = registry.Search{Kind: c.kind, Target: given["target"], Text: given["text"], Title: given["title"], Tag: given["tag"]}
	if err := s.Validate(); err != nil {
		return s, false, fmt.Errorf("%w: title: %w", problem.ErrSelection, err)
	}
	if given["prefix"] != "" {
		if s.Below, err = names.Below(given["prefix"]); err != nil {
			return s, false, err
		}
	}
	if given["alias_of"] != "" {
		of, err := names.CanonicalKey(registry.Name(given["alias_of"]))
		if err != nil {
			return s, false, err
		}
		s.AliasOf = of.Name
	}
	if given["status"] != "" {
		for word := range strings.SplitSeq(given["status"], ",") {
			var status registry.Status
			if err := status.UnmarshalText([]byte(word)); err != nil || word == "" {
				return s, false, fmt.Errorf("%w: status is one of active, reserved and withdrawn, or several, separated by commas", problem.ErrSelection)
			}
			s.Statuses = append(s.Statuses, status)
		}
	}
	if given["metadata"] != "" {
		if s.Member, s.Value, _ = strings.Cut(given["metadata"], "="); s.Member == "" {
			return s, false, fmt.Errorf("%w: metadata is a member, or a member and its value, as title=Kalevala", problem.ErrSelection)
		}
	}
	for _, name := range filters()[1:] {
		filtered = filtered || given[name] != ""
	}
	return s, filtered, c.actor.May(registry.Reader, registry.Prefix(s.Below))
}

// found answers a page of the entries that a search finds. What took too long to be found is on a later page.
func (h *Handler) found(c *call, s registry.Search, limit int, after string) (message.Reply, error) {
	s.After, s.Limit = after, limit
	entries, octets := []registry.Entry{}, 0
	done, err := h.searchNames(c, s, func(e registry.Entry) error {
		if entries, octets = append(entries, e), octets+octetsOf(&e); octets > pageOctets {
			return errPageIsFull
		}
		return nil
	})
	if err != nil && !errors.Is(err, errPageIsFull) {
		return message.Reply{}, err
	}
	document := api.NamePage{Names: api.NewNames(entries)}
	if done.Last != "" {
		document.Next = cursorOf(done.Last)
	}
	return pageReply(c, document, document.Next), nil
}

// serveExport answers all entries that a request chooses, as a file.
func (h *Handler) serveExport(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, append(filters(), "format", "at")...)
	if err != nil {
		return message.Reply{}, err
	}
	s, _, err := h.search(c, given)
	if err == nil && given["at"] != "" {
		s.At, err = timeOf(given["at"])
	}
	if err != nil {
		return message.Reply{}, err
	}
	kind, format := typeNDJSON, bulk.NDJSON
	switch given["format"] {
	case "", "ndjson":
	case "csv":
		kind, format = "text/csv; charset=utf-8", bulk.CSV
	case "tsv":
		kind, format = "text/tab-separated-values; charset=utf-8", bulk.TSV
	default:
		return message.Reply{}, fmt.Errorf("%w: format is ndjson, csv or tsv", problem.ErrSelection)
	}
	release, err := h.exports.Acquire(c.actor.Token)
	if err != nil {
		return message.Reply{}, refusedShare(err, fmt.Errorf("%w: %d are being sent; try again later", problem.ErrExports, maxExports),
			"%d exports are being sent", maxExportsOfToken)
	}
	return message.Reply{
		Status: http.StatusOK, ContentType: kind, CacheControl: message.NoStore, Close: release,
		Fields: httpmessage.FieldsOf("Content-Disposition", `attachment; filename="names.`+string(format)+`"`),
		Stream: func(w message.Stream) error {
			return bulk.Stream(c.Context(), w, h.config.Registry.Names, s, format)
		},
	}, nil
}
