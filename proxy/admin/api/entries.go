package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/service"
)

// serveEntries returns one entry, or a list if the parameter "uri" is missing.
func serveEntries(c *call) (message.Reply, error) {
	switch {
	case !c.URL.Query().Has("uri") && (c.get("at") != "" || c.get("version") != ""):
		return message.Reply{}, fmt.Errorf("%w: at and version require uri", problem.ErrSelection)
	case !c.URL.Query().Has("uri"):
		return serveList(c)
	}
	for name := range c.given {
		if name != "uri" && name != "at" && name != "version" {
			return message.Reply{}, fmt.Errorf("%w: prefix, limit and cursor cannot be combined with uri",
				problem.ErrSelection)
		}
	}
	return serveEntry(c)
}

func serveEntry(c *call) (message.Reply, error) {
	key, err := c.key(c.get("uri"))
	if err == nil { // authorization precedes errors of other parameters
		key, err = c.service.CanonicalKey(c.actor, service.ToRead, key)
	}
	if err != nil {
		return message.Reply{}, err
	}
	condition, err := conditionOf(httpmessage.NewHeader(c.Header))
	if err != nil {
		return message.Reply{}, err
	}
	v, err := versionOf(c)
	if err != nil {
		return message.Reply{}, err
	}
	e, err := c.service.Get(c.Context(), c.actor, key, v)
	switch {
	case err != nil:
		return message.Reply{}, err
	case !condition.matches(e):
		return message.Reply{}, fmt.Errorf("%w: %s has version %d", registry.ErrConflict, key, e.Version)
	case condition.isKnown(e): // RFC 9110 section 13.1.2
		return message.Reply{
			Status: http.StatusNotModified, CacheControl: message.NoStore,
			Fields: httpmessage.NewFields("Etag", etag(e)),
		}, nil
	}
	return entryReply(http.StatusOK, e, nil), nil
}

// versionOf returns the requested version of an entry: the zero value is the current one.
func versionOf(c *call) (v service.Version, err error) {
	if c.get("at") != "" && c.get("version") != "" {
		return v, fmt.Errorf("%w: at and version cannot be combined", problem.ErrSelection)
	}
	if v.At, err = service.ParseTime(c.get("at")); err != nil || c.get("version") == "" {
		return v, err
	}
	if v.Number, err = strconv.Atoi(c.get("version")); err != nil || v.Number < 1 {
		return v, fmt.Errorf("%w: version must be a number", problem.ErrSelection)
	}
	return v, nil
}

// entryReply returns the document of an entry, with its warning, unless warning is nil.
func entryReply(status int, e registry.Entry, warning error) message.Reply {
	document := api.NewName(e)
	if warning != nil {
		document.Warning = warning.Error()
	}
	r := message.JSON(status, document)
	r.Fields.Set("ETag", etag(e))
	return r
}

// serveList returns a page of entries.
func serveList(c *call) (message.Reply, error) {
	search, err := service.ParseSearch(c.kind, c.get)
	if err != nil {
		return message.Reply{}, err
	}
	found, err := c.service.List(c.Context(), c.actor, search, pageOf(c))
	return pageReply(c, api.NamePage{Names: api.NewNames(found.Entries), Next: found.Next}, found.Next,
		found.Next != ""), err
}

// serveHistory returns a page of versions of an entry, the newest first.
func serveHistory(c *call) (message.Reply, error) {
	key, err := c.key(c.get("uri"))
	if err != nil {
		return message.Reply{}, err
	}
	found, err := c.service.History(c.Context(), c.actor, key, pageOf(c))
	return pageReply(c, api.NameHistory{Versions: api.NewNames(found.Entries), Next: found.Next}, found.Next,
		found.Next != ""), err
}

// serveExport streams all entries that match the parameters as a file.
func serveExport(c *call) (message.Reply, error) {
	search, err := service.ParseSearch(c.kind, c.get)
	if err == nil {
		search.At, err = service.ParseTime(c.get("at"))
	}
	if err != nil {
		return message.Reply{}, err
	}
	format, err := c.format("ndjson", "csv", "tsv")
	if err != nil {
		return message.Reply{}, err
	}
	export, err := c.service.Export(c.Context(), c.actor, search, bulk.Format(format))
	if err != nil {
		return message.Reply{}, err
	}
	return fileReply(format, "names", export.Close, func(w message.Stream) error { return export.Write(w) }), nil
}

// pageOf returns the page that the parameters cursor and limit request.
func pageOf(c *call) service.Page {
	p := service.Page{Cursor: c.get("cursor")}
	if text := c.get("limit"); text != "" {
		if limit, err := strconv.Atoi(text); err == nil && limit != 0 {
			p.Limit = limit
		} else {
			p.Limit = -1 // an invalid limit
		}
	}
	return p
}

// pageReply returns a page, with a link to the next one if more is true (RFC 8288).
func pageReply(c *call, document any, next string, more bool) message.Reply {
	r := message.JSON(http.StatusOK, document)
	if more {
		query := c.URL.Query()
		query.Set("cursor", next)
		target := url.URL{Path: c.URL.Path, RawQuery: query.Encode()}
		r.Fields.Set("Link", "<"+target.String()+`>; rel="next"`)
	}
	return r
}
