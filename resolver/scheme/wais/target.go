package wais

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// target is the parsed target of a URL.
type target struct {
	uri       uri.URI // in normal form
	address   string  // of the server
	databases []string
	search    string // words, or a query in Prefix Query Format; "" for none
	position  int64  // position of a record in the result set, from 1; 0 for all records
	first     int64  // position of the first listed record, from 1; 0 means 1
	docID     string // document identifier of the server; "" for none
	as        []syntax
	asText    bool // the record is converted to text
	elements  string
	form      string // the search that a form has submitted
	isForm    bool
}

// newTarget returns the target of a URL. The error is a *uri.ParseError.
func newTarget(u uri.URI) (target, error) {
	u = u.WithoutFragment().Normalize()
	t := target{uri: u, address: address(u), asText: true, as: append(syntaxes(), syntax{})}
	if u.Scheme() == "wais" {
		err := t.setWAIS()
		return t, err
	}
	z, err := u.Z3950()
	if err != nil {
		return target{}, err
	}
	t.databases, t.docID, t.elements = z.Databases, z.DocID, z.ElementSet
	var named []syntax
	for _, name := range z.Syntaxes {
		if s, ok := lookupSyntax(name); ok {
			named = append(named, s)
		}
	}
	if named != nil {
		t.as, t.asText = named, false
	}
	return t, nil
}

// typeList is the type in URLs of a result list from a position on, which is in the path as for a document.
const typeList = "LIST"

// typeText is the type of a document that is converted to text, whatever its record syntax.
const typeText = "TEXT"

func (t *target) setWAIS() error {
	w, err := t.uri.WAIS()
	if err != nil {
		return err
	}
	t.databases = []string{w.Database}
	if raw, ok := t.uri.Query(); ok {
		t.setSearch(raw)
		return nil
	}
	if w.Type == "" {
		return nil
	}
	if s, ok := lookupSyntax(w.Type); ok {
		t.as, t.asText = []syntax{s}, false
	}
	number, search, _ := strings.Cut(w.Path, ":")
	position, err := strconv.ParseInt(number, 10, 32)
	if err == nil && position > 0 && search != "" && w.Type == typeList {
		t.first, t.search = position, search
		return nil
	}
	if err == nil && position > 0 && search != "" {
		t.position, t.search = position, search
	} else {
		t.docID = w.Path
	}
	return nil
}

// setSearch sets the search from the query component. A plus is data, as in "c++": RFC 1738 gives it no other
// meaning. Only the submission of an HTML form, "search=" and the words, is decoded as form data.
func (t *target) setSearch(raw string) {
	if value, ok := strings.CutPrefix(raw, "search="); ok {
		value, _, _ = strings.Cut(value, "&")
		if words, err := url.QueryUnescape(value); err == nil {
			t.form, t.isForm = strings.TrimSpace(words), true
		}
		return
	}
	if search, err := url.PathUnescape(raw); err == nil { // a parsed URI has valid percent-encodings
		t.search = strings.TrimSpace(search)
	}
}

// address returns the host and port of the server.
func address(u uri.URI) string {
	host, _ := u.Host()
	port, _ := u.Port()
	if port == "" {
		port = u.DefaultPort()
	}
	return net.JoinHostPort(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), port)
}

// The methods below return URLs at the same server.

func (t target) database(name string) string {
	authority, _ := t.uri.Authority()
	return "wais://" + authority + "/" + escape(name)
}

func (t target) searching(search string) string {
	return t.database(t.databases[0]) + "?" + escape(search)
}

// document returns the URL of a record of the result set: the search and the position. Servers need not support
// any other identifier.
func (t target) document(position int64) string {
	return t.found(typeText, position)
}

// list returns the URL of the result list from a position on.
func (t target) list(first int64) string {
	if first == 1 {
		return t.searching(t.search)
	}
	return t.found(typeList, first)
}

func (t target) found(kind string, position int64) string {
	return t.database(t.databases[0]) + "/" + kind + "/" + strconv.FormatInt(position, 10) + "%3A" + escape(t.search)
}

// escape percent-encodes all bytes except unreserved ones.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
