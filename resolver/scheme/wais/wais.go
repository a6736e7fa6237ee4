// Package wais searches databases and retrieves their records by Z39.50 (ISO 23950): what URLs of the schemes
// wais (RFC 1738 section 3.9), z39.50s and z39.50r (RFC 2056) name.
//
//   - wais://host/database is a form for a search, with what the server says of itself;
//   - wais://host/database?words is the first records of the result. All words must be in a record; words in
//     double quotes are a phrase; a search that begins with "@" is a query in Prefix Query Format;
//   - wais://host/database/type/path is one record. In URLs that are made here, the path is the position
//     of the record in the result of a search, a colon, and the search: "3:words", percent-encoded. Such a URL
//     leads to another record when the database has changed. Any other path is a document identifier of
//     the server. The type is the name of a record syntax, such as XML or USMARC, in which the record is
//     then sent as it is; with any other type, such as TEXT, a text is made of it;
//   - z39.50r://host/database?docid, and z39.50s with a docid, is a record by its document identifier;
//     z39.50s without one is a form.
//
// Records are shown in the syntaxes SUTRS, MARC, XML, GRS-1 and OPAC. It is tested against yaz-ztest and
// Zebra, which speak version 3 of Z39.50. The first servers of WAIS (freeWAIS) speak Z39.50 of 1988 in
// messages with another framing: these are not reached.
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
	Records int // of a result that are shown
}

// Handler implements scheme.Handler. It is safe for concurrent use: each request has a connection of its
// own.
type Handler struct{ config Config }

// New returns a Handler.
func New(config Config) *Handler { return &Handler{config} }

// Fetch implements scheme.Handler. Records are received as a whole, before it returns.
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
	resource.From = s.from()
	return resource, nil
}

func (s *session) fetch(t target, r scheme.Request, most int64) (*scheme.Resource, error) {
	switch {
	case t.docID != "" || t.position > 0:
		return s.document(t, r)
	case t.search == "":
		return scheme.Listed(s.describe(t)), nil
	}
	l, err := s.results(t, most)
	if err != nil {
		return nil, err
	}
	return scheme.Listed(l), nil
}
