package admin

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// How many entries a list has.
const (
	defaultPage = 100
	maxPage     = 1000
)

// serveEntries answers one entry, or a list where the parameter "uri" is not given.
func (h *Handler) serveEntries(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, append(filters(), "uri", "at", "version", "limit", "cursor")...)
	if err != nil {
		return message.Reply{}, err
	}
	if c.URL.Query().Has("uri") {
		if err := onlyParameters(given, "uri", "at", "version"); err != nil {
			return message.Reply{}, err
		}
		return h.entry(c, given)
	}
	if given["at"] != "" || given["version"] != "" {
		return message.Reply{}, fmt.Errorf("%w: at and version are for one name", problem.ErrSelection)
	}
	return h.list(c, given)
}

// onlyParameters returns an error where others are given than those of one name.
func onlyParameters(given map[string]string, names ...string) error {
	known := 0
	for _, name := range names {
		if given[name] != "" {
			known++
		}
	}
	if known < len(given) {
		return fmt.Errorf("%w: prefix, limit and cursor are for lists, which have no uri", problem.ErrSelection)
	}
	return nil
}

// key returns the key of the parameter "uri", if the actor has a role for it.
func (h *Handler) key(c *call, role registry.Role, text string) (registry.Key, error) {
	if text == "" {
		return registry.Key{}, fmt.Errorf("%w: uri is required", problem.ErrSelection)
	}
	key, err := h.config.Registry.Names.CanonicalKey(registry.Key{Kind: c.kind, Name: text})
	if err == nil {
		err = c.actor.May(role, key)
	}
	return key, err
}

func (h *Handler) entry(c *call, given map[string]string) (message.Reply, error) {
	key, err := h.key(c, registry.Reader, given["uri"])
	if err != nil {
		return message.Reply{}, err
	}
	condition, err := conditionOf(httpmessage.LinesOf(c.Header))
	if err != nil {
		return message.Reply{}, err
	}
	e, err := h.asked(c, key, given)
	switch {
	case err != nil:
		return message.Reply{}, err
	case !condition.matches(e):
		return message.Reply{}, fmt.Errorf("%w: %s has version %d", registry.ErrConflict, key, e.Version)
	case condition.isKnown(e): // RFC 9110 section 13.1.2
		return message.Reply{Status: http.StatusNotModified, CacheControl: message.NoStore, Fields: httpmessage.FieldsOf("Etag", etag(e))}, nil
	}
	return entryReply(http.StatusOK, e), nil
}

// asked returns the entry of a key that a request asks for: as it was at a time, one of its versions, or the current one.
func (h *Handler) asked(c *call, key registry.Key, given map[string]string) (registry.Entry, error) {
	names := h.config.Registry.Names
	switch at, version := given["at"], given["version"]; {
	case at != "" && version != "":
		return registry.Entry{}, fmt.Errorf("%w: at and version are given, and each chooses one", problem.ErrSelection)
	case at != "":
		moment, err := timeOf(at)
		if err != nil {
			return registry.Entry{}, err
		}
		return names.At(c.Context(), key, moment)
	case version != "":
		number, err := strconv.Atoi(version)
		if err != nil || number < 1 {
			return registry.Entry{}, fmt.Errorf("%w: version is the number of one", problem.ErrSelection)
		}
		return h.version(c, key, number)
	default:
		return names.Get(c.Context(), key)
	}
}

// version returns a version of a key by its number.
func (h *Handler) version(c *call, key registry.Key, number int) (registry.Entry, error) {
	for before := registry.Seq(0); ; {
		page, err := h.config.Registry.Names.History(c.Context(), key, before, entriesAtOnce)
		if err != nil {
			return registry.Entry{}, err
		}
		for _, e := range page {
			if before = e.Seq; e.Version == number {
				return e, nil
			}
		}
		if len(page) < entriesAtOnce {
			return registry.Entry{}, fmt.Errorf("%w: %s has no version %d", registry.ErrUnknown, key, number)
		}
	}
}

// timeOf parses the parameter "at".
func timeOf(text string) (time.Time, error) {
	t, ok := resolver.ParseAt(text)
	if !ok {
		return time.Time{}, fmt.Errorf("%w: at is a time such as 2031-05-01T12:00:00Z, or a day such as 2031-05-01", problem.ErrSelection)
	}
	return t, nil
}

// entryReply returns the document of an entry.
func entryReply(status int, e registry.Entry) message.Reply {
	r := message.JSON(status, api.NewName(e))
	r.Fields.Set("ETag", etag(e))
	return r
}

// changedReply is entryReply after a change, with what is doubtful in the name.
func (h *Handler) changedReply(status int, e registry.Entry) message.Reply {
	document := api.NewName(e)
	if doubt := h.config.Registry.Names.Doubt(e.Key); doubt != nil {
		document.Warning = doubt.Error()
	}
	r := message.JSON(status, document)
	r.Fields.Set("ETag", etag(e))
	return r
}

// list answers a page of entries.
func (h *Handler) list(c *call, given map[string]string) (message.Reply, error) {
	limit, after, err := pageOf(given)
	if err != nil {
		return message.Reply{}, err
	}
	s, filtered, err := h.search(c, given)
	if err != nil {
		return message.Reply{}, err
	}
	if filtered {
		return h.found(c, s, limit, after)
	}
	entries, more, err := entriesUpTo(limit, func(last *registry.Entry, n int) ([]registry.Entry, error) {
		if last != nil {
			after = last.Name
		}
		return h.config.Registry.Names.List(c.Context(), c.kind, s.Below, after, n)
	})
	if err != nil {
		return message.Reply{}, err
	}
	document := api.NamePage{Names: api.NewNames(entries)}
	if more {
		document.Next = cursorOf(entries[len(entries)-1].Name)
	}
	return pageReply(c, document, document.Next), nil
}

// serveHistory answers a page of versions of an entry, the newest first.
func (h *Handler) serveHistory(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "uri", "limit", "cursor")
	if err != nil {
		return message.Reply{}, err
	}
	key, err := h.key(c, registry.Reader, given["uri"])
	if err != nil {
		return message.Reply{}, err
	}
	limit, text, err := pageOf(given)
	if err != nil {
		return message.Reply{}, err
	}
	var before int64
	if text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return message.Reply{}, errCursor
		}
	}
	versions, more, err := entriesUpTo(limit, func(last *registry.Entry, n int) ([]registry.Entry, error) {
		if last != nil {
			before = int64(last.Seq)
		}
		return h.config.Registry.Names.History(c.Context(), key, registry.Seq(before), n)
	})
	if err != nil {
		return message.Reply{}, err
	}
	document := api.NameHistory{Versions: api.NewNames(versions)}
	if more {
		document.Next = seqCursor(versions[len(versions)-1].Seq)
	}
	return pageReply(c, document, document.Next), nil
}
