// Package wais searches databases and fetches their records by Z39.50 (ISO 23950) as scheme.Handler. A request
// for a wais URL (RFC 1738 section 3.9) or a z39.50s or z39.50r URL (RFC 2056) enters; a search form or a
// listing of results leaves, or a record. The URLs are:
//
//   - wais://host/database is a search form with a description of the server.
//   - wais://host/database?words is the first page of the results. All words must match; words in double quotes
//     are a phrase; a search that starts with "@" is a query in Prefix Query Format.
//   - wais://host/database/type/path is a record. In URLs made here, the path is the position of the record in
//     the results of a search, a colon, and the search: "3:words", percent-encoded. Such a URL names another
//     record after the database has changed. Any other path is a document identifier of the server. The type is
//     the name of a record syntax, such as XML or USMARC, in which the record is then sent unchanged; for any
//     other type, such as TEXT, the record is converted to text.
//   - z39.50r://host/database?docid, and z39.50s with a docid, is a record by its document identifier;
//     z39.50s without one is a search form.
//
// Records are displayed in the syntaxes SUTRS, MARC, XML, GRS-1 and OPAC. The package is tested against
// yaz-ztest and Zebra, which speak version 3 of Z39.50. The first WAIS servers (freeWAIS) are not supported:
// they speak Z39.50 of 1988, with different framing.
package wais

import (
	"context"
	"net/http"

	"github.com/urnd/urnd/resolver/scheme"
)

// Config configures a Handler. All fields must be set.
type Config struct {
	Dial    scheme.Dial
	Limits  scheme.Limits
	Records int // maximum number of results per page
}

// Handler implements scheme.Handler. It is safe for concurrent use: each request has its own connection.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler. It receives records completely before it returns.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	t, err := newTarget(r.URI)
	if err != nil {
		return nil, err
	}
	if t.isForm {
		if t.form == "" {
			return scheme.Redirect(http.StatusSeeOther, t.database(t.databases[0])), nil
		}
		return scheme.Redirect(http.StatusSeeOther, t.searching(t.form)), nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.config.Limits.Timeout)
	defer cancel()
	s, err := open(ctx, h.config, r, t.address)
	if err != nil {
		return nil, err
	}
	defer s.close()
	resource, err := s.fetch(t, r, int64(min(h.config.Records, h.config.Limits.Entries)))
	if err != nil {
		return nil, err
	}
	resource.RemoteAddr = s.from()
	return resource, nil
}

func (s *session) fetch(t target, r scheme.Request, most int64) (*scheme.Resource, error) {
	switch {
	case t.docID != "" || t.position > 0:
		return s.document(t, r)
	case t.search == "":
		return scheme.ListingResource(s.describe(t)), nil
	}
	l, err := s.results(t, most)
	if err != nil {
		return nil, err
	}
	return scheme.ListingResource(l), nil
}
