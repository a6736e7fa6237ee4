package wais

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/urnd/urnd/resolver/scheme"
)

// diagnostic is the diagnostic of a server for a failed search or record: ISO 23950 appendix ERR. It is an
// error.
type diagnostic struct {
	condition int64  // of the diagnostic set bib-1; 0 for any other set
	words     string // additional text of the server; may be ""
}

func (d *diagnostic) Error() string {
	_, text := d.meaning()
	if d.words == "" {
		return fmt.Sprintf("diagnostic %d: %s", d.condition, text)
	}
	return fmt.Sprintf("diagnostic %d: %s: %s", d.condition, text, d.words)
}

// parseDiagnostic parses a DefaultDiagFormat, untagged or as a sequence of its fields.
func parseDiagnostic(e element) *diagnostic {
	d := &diagnostic{}
	for part := range e.children() {
		switch {
		case part.is(universal, tagInteger):
			d.condition = part.integer()
		case part.is(universal, tagVisible), part.is(universal, tagGeneral):
			d.words = string(part.bytes())
		}
	}
	return d
}

// refusal returns the error response for the client.
func (d *diagnostic) refusal() error {
	code, _ := d.meaning()
	return &scheme.StatusError{
		Status: d.status(), Reply: scheme.DecodeText(d.Error()), Code: code,
		Values: []string{"Number", strconv.FormatInt(d.condition, 10), "Reply", scheme.DecodeText(d.words)},
	}
}

// status returns the closest HTTP status.
func (d *diagnostic) status() int {
	switch d.condition {
	case 13, 109, 235: // no such record or database
		return http.StatusNotFound
	case 236, 1010, 1011, 1012, 1013, 1014, 1015:
		return http.StatusForbidden
	case 4, 5, 6, 9, 10, 11, 12, 108, 125, 126: // invalid search terms
		return http.StatusBadRequest
	case 2:
		return http.StatusServiceUnavailable
	}
	if d.isSyntax() || d.isAttribute() {
		return http.StatusNotImplemented
	}
	return http.StatusBadGateway
}

// isAttribute reports whether the server does not support an attribute of the query.
func (d *diagnostic) isAttribute() bool {
	return d.condition >= 113 && d.condition <= 124 || d.condition == 3 || d.condition == 237
}

// isSyntax reports whether the record is not available in the requested record syntax.
func (d *diagnostic) isSyntax() bool {
	switch d.condition {
	case systemError, 227, 238, 239: // YAZ servers send systemError if they have no data in the syntax
		return true
	default:
		return false
	}
}

// isElementSet reports whether the server does not support the element set name.
func (d *diagnostic) isElementSet() bool {
	return d.condition >= 24 && d.condition <= 26 || d.condition == systemError
}

// systemError means that presenting a record failed. Servers also send it for unexpected requests.
const systemError = 14

// meaning returns the meaning of common conditions: a code for translation, and an English text.
func (d *diagnostic) meaning() (code, text string) {
	for _, m := range []struct {
		condition  int64
		code, text string
	}{
		{condition: 1, code: "wais_broken", text: "permanent system error"},
		{condition: 2, code: "wais_broken_now", text: "temporary system error"},
		{condition: 3, code: "wais_search_unsupported", text: "unsupported search"},
		{condition: 4, code: "wais_words_ignored", text: "search with stop words only"},
		{condition: 13, code: "wais_record_missing", text: "no such record in the result set"},
		{condition: systemError, code: "wais_record_failed", text: "system error in presenting records"},
		{condition: 17, code: "wais_record_long", text: "the record is too long"},
		{condition: 25, code: "wais_no_element_set", text: "no such element set for this database"},
		{condition: 108, code: "wais_query_malformed", text: "malformed query"},
		{condition: 109, code: "wais_database_unavailable", text: "database unavailable"},
		{condition: 114, code: "wais_attribute_unsupported", text: "unsupported use attribute"},
		{condition: 125, code: "wais_term_malformed", text: "malformed search term"},
		{condition: 235, code: "wais_no_database", text: "database does not exist"},
		{condition: 236, code: "wais_database_denied", text: "access to the database is denied"},
		{condition: 238, code: "wais_not_in_syntax", text: "the record is not available in this syntax"},
		{condition: 239, code: "wais_syntax_unsupported", text: "record syntax not supported"},
	} {
		if m.condition == d.condition {
			return m.code, m.text
		}
	}
	code, text = "wais_other", "server refused"
	return code, text
}

// refuseSession returns the error of a server that rejects the session, with the diagnostic in its
// userInformationField if there is one.
func refuseSession(response element) error {
	if field, ok := response.child(11); ok {
		if reported := parseDiagnostic(deepest(field)); reported.condition != 0 {
			return reported.refusal()
		}
	}
	return scheme.PolicyDenial(http.StatusForbidden, "wais_refused", "server refused the session")
}

// deepest returns the first sequence in e that has an integer, within a few levels of nesting.
func deepest(e element) element {
	const deep = 8
	for range deep {
		if _, ok := e.find(universal, tagInteger); ok {
			return e
		}
		last := element{}
		for child := range e.children() {
			if child.constructed {
				last = child
			}
		}
		e = last
	}
	return element{}
}
