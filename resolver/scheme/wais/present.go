package wais

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urnd/urnd/resolver/scheme"
)

// wanted is the requested form of records.
type wanted struct {
	elementSet string   // element set name; "" for the server's choice
	syntaxes   []syntax // at least one, tried in order; the last may be the zero value, the server's choice
}

// present is the retrieval facility: ISO 23950 section 3.2.3. It returns at least one and at most count records
// of the result from first, counted from 1. It removes from w what the server does not support.
func (s *session) present(first, count int64, w *wanted) (records []record, err error) {
	for { // terminates: each iteration removes an option from w
		records, err = s.presentOne(first, count, w.elementSet, w.syntaxes[0])
		reported, _ := errors.AsType[*diagnostic](err)
		if err == nil {
			reported = records[0].failed
		}
		switch {
		case reported == nil:
			return records, err
		case reported.isElementSet() && w.elementSet != "":
			w.elementSet = ""
		case reported.isSyntax() && len(w.syntaxes) > 1:
			w.syntaxes = w.syntaxes[1:]
		case err == nil: // the other records may have no diagnostic
			return records, nil
		default:
			return nil, reported.refusal()
		}
	}
}

// presentOne sends a present request. It returns a *diagnostic if there are no records.
func (s *session) presentOne(first, count int64, elementSet string, as syntax) ([]record, error) {
	parts := [][]byte{text(31, resultSet), number(30, first), number(29, count)}
	if elementSet != "" {
		const recordComposition, generic = 19, 0
		parts = append(parts, group(contextual, recordComposition, text(generic, elementSet)))
	}
	if as.id != "" {
		id, err := parseObjectID(as.id)
		if err != nil {
			return nil, err
		}
		parts = append(parts, objectID(contextual, 104, id))
	}
	response, err := s.exchange(group(contextual, pduPresentRequest, parts...), pduPresentResponse)
	if err != nil {
		return nil, err
	}
	if d := diagnosticOf(response); d != nil {
		return nil, d
	}
	const responseRecords = 28
	list, _ := response.child(responseRecords)
	var records []record
	for e := range list.children() {
		if int64(len(records)) == count {
			break
		}
		records = append(records, parseRecord(e))
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: response without records", scheme.ErrInvalidResponse)
	}
	return records, nil
}

// presentAll returns count records of the result from first, counted from 1. Servers send fewer per response if
// the message would be too long. If the total exceeds the limit of bytes, it returns fewer records.
func (s *session) presentAll(first, count int64, w *wanted) ([]record, error) {
	var records []record
	for n := int64(0); n < count; n = int64(len(records)) {
		more, err := s.present(first+n, count-n, w)
		if n > 0 && errors.Is(err, errTooLong) {
			break
		}
		if err != nil {
			return nil, err
		}
		records = slices.Concat(records, more)
	}
	return records, nil
}
