package wais

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/urnd/urnd/resolver/scheme"
)

// search is the search facility: ISO 23950 section 3.2.2. It tries the queries in order, because servers
// support different attributes, and returns the number of records of the first query that the server supports.
func (s *session) search(databases []string, queries ...*node) (count int64, err error) {
	for _, query := range queries {
		count, err = s.searchOne(databases, query)
		reported, ok := errors.AsType[*diagnostic](err)
		if !ok {
			return count, err
		}
		if err = reported.refusal(); !reported.isAttribute() {
			break
		}
	}
	return 0, err
}

// searchOne sends a search request. It returns a *diagnostic if the server rejects it.
func (s *session) searchOne(databases []string, query *node) (int64, error) {
	var names [][]byte
	for _, name := range databases {
		names = append(names, text(105, name))
	}
	const queryTag, type1 = 21, 1
	response, err := s.exchange(group(contextual, pduSearchRequest,
		number(13, 0), number(14, 1), number(15, 0), // no records in the search response
		boolean(16, true),
		text(17, resultSet),
		group(contextual, 18, names...),
		group(contextual, queryTag, group(contextual, type1, objectID(universal, tagObjectID, bib1()), query.encode())),
	), pduSearchResponse)
	if err != nil {
		return 0, err
	}
	if d := diagnosticOf(response); d != nil {
		return 0, d
	}
	if status, ok := response.child(22); !ok || !status.boolean() {
		return 0, scheme.PolicyDenial(http.StatusBadGateway, "wais_search_failed",
			"search failed, without a diagnostic")
	}
	count, ok := response.child(23)
	if n := count.integer(); ok && n >= 0 {
		return n, nil
	}
	return 0, fmt.Errorf("%w: result without a number of records", scheme.ErrInvalidResponse)
}

// resultSet is the name of the only result set of a session.
const resultSet = "default"

// bib1 returns the identifier of the attribute set used here: ISO 23950 appendix OID.
func bib1() objectIdentifier { return objectIdentifier{1, 2, 840, 10003, 3, 1} }

// diagnosticOf returns the diagnostic that a response has in place of records; nil for none.
func diagnosticOf(response element) *diagnostic {
	const nonSurrogate, multiple = 130, 205
	if e, ok := response.child(nonSurrogate); ok {
		return parseDiagnostic(e)
	}
	if e, ok := response.child(multiple); ok {
		if first, ok := e.only(); ok {
			return parseDiagnostic(first)
		}
	}
	return nil
}

// queriesFor returns the queries to try for a search by words: in any field, in the server's default, in
// titles.
func queriesFor(query *node, isPrefix bool) []*node {
	if isPrefix {
		return []*node{query}
	}
	return []*node{
		query.with(attribute{attrUse, useAny}), query, query.plain(),
		query.plain().with(attribute{attrUse, useTitle}),
	}
}

// queriesForDocID returns the queries to try for a document identifier: RFC 2056 section 3, then the numbers by
// which libraries identify records.
func queriesForDocID(id string) []*node {
	term := &node{term: id}
	return []*node{
		term.with(attribute{attrUse, useDocID}, attribute{attrStructure, structureURX}),
		term.with(attribute{attrUse, useDocID}),
		term.with(attribute{attrUse, useLocalNumber}),
	}
}
