package wais

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// describe returns the listing of databases, or of a server: its implementation, and a search form.
func (s *session) describe(t target) *scheme.Listing {
	l := &scheme.Listing{
		Kind: scheme.KindMenu, Title: scheme.DecodeText(strings.Join(t.databases, ", ")),
		URI: t.uri.String(),
	}
	if l.Title == "" {
		l.Title = t.address
	}
	for _, p := range []scheme.Property{
		{Name: "Server", Value: s.about.name},
		{Name: "Version", Value: s.about.version},
		{Name: "Implementation", Value: s.about.id},
	} {
		if p.Value = short(p.Value); p.Value != "" {
			l.Properties = append(l.Properties, p)
		}
	}
	switch len(t.databases) {
	case 0:
		l.Notes = []string{"This URL has no database, and the protocol cannot list those of a server."}
	case 1:
		l.Search = t.searchForm()
	default:
		for _, name := range t.databases {
			l.Items = append(l.Items,
				scheme.Item{Kind: scheme.ItemSearch, Name: scheme.DecodeText(name), URI: t.database(name)})
		}
	}
	return l
}

func (t target) searchForm() *scheme.Search {
	return &scheme.Search{
		Label:  "Search words (all must match); a phrase in double quotes",
		Prefix: t.database(t.databases[0]) + "?",
	}
}

// results returns a page of at most most records found by a search, from the first of the target.
func (s *session) results(t target, most int64) (*scheme.Listing, error) {
	count, err := s.find(t)
	if err != nil {
		return nil, err
	}
	l := &scheme.Listing{
		Kind: scheme.KindResults, Title: scheme.DecodeText(t.search), URI: t.searching(t.search),
		Parent: &scheme.Link{Text: scheme.DecodeText(t.databases[0]), URI: t.database(t.databases[0])},
		Notes:  []string{fmt.Sprintf("%d records found.", count)},
		Search: t.searchForm(),
	}
	first := max(t.first, 1)
	if first > 1 {
		l.URI = t.list(first)
		l.Previous = t.page(max(first-most, 1), min(first-1, most))
	}
	if first > count {
		return l, nil
	}
	records, err := s.presentAll(first, min(count-first+1, most), &wanted{elementSet: "B", syntaxes: t.as})
	if err != nil {
		return nil, err
	}
	for i, r := range records {
		position := first + int64(i)
		if r.failed != nil {
			l.Items = append(l.Items,
				scheme.Item{
					Kind: scheme.ItemError,
					Name: fmt.Sprintf("Record %d: %s", position, short(r.failed.Error())),
				})
			continue
		}
		b := r.brief()
		if b.title == "" {
			b.title = fmt.Sprintf("Record %d", position)
		}
		l.Items = append(l.Items, scheme.Item{
			Kind: scheme.ItemDocument, Name: b.title, From: b.author, Note: b.note, URI: t.document(position),
			Type: "text/plain",
		})
	}
	if next := first + int64(len(records)); next <= count {
		l.Incomplete = fmt.Sprintf("records %d to %d of %d are shown", first, next-1, count)
		l.Next = t.page(next, min(count-next+1, most))
	}
	return l, nil
}

// page returns the link to count records from first.
func (t target) page(first, count int64) *scheme.Link {
	return &scheme.Link{Text: fmt.Sprintf("records %d to %d", first, first+count-1), URI: t.list(first)}
}

// find runs the search of a target, and returns the number of records found.
func (s *session) find(t target) (int64, error) {
	if t.docID != "" {
		return s.search(t.databases, queriesForDocID(t.docID)...)
	}
	query, err := parseSearch(t.search)
	if err != nil {
		return 0, scheme.PolicyDenial(http.StatusBadRequest, "wais_search_not_valid", err.Error())
	}
	if query.terms() > maxTerms {
		return 0, scheme.PolicyDenial(http.StatusBadRequest, "wais_too_many_words", "too many search words")
	}
	return s.search(t.databases, queriesFor(query, strings.HasPrefix(t.search, "@"))...)
}
