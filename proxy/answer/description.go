package proxy

import (
	"bytes"
	"encoding/csv"
	"errors"
	"net/http"
	"strconv"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/resolver"
)

// The representations of a description: I2C of RFC 2483 section 4.5.
var (
	typeLD           = contenttype.NewMediaType("application/ld+json")
	typeCSV          = contenttype.NewMediaType("text/csv")
	descriptionTypes = []contenttype.MediaType{typeLD, typeJSON, typeCSV, typeHTML}
)

// descriptionJSON is a thing of schema.org, with what urnd knows beside it.
type descriptionJSON struct {
	Context    string        `json:"@context"`
	Type       string        `json:"@type"`
	ID         string        `json:"@id"`
	Identifier string        `json:"identifier"`
	SameAs     []string      `json:"sameAs"`
	URL        []string      `json:"url"`
	Namespace  string        `json:"namespace,omitempty"`
	Document   string        `json:"document,omitempty"`
	Conforms   []string      `json:"conforms,omitempty"`
	Status     string        `json:"status"`   // located, unknown, gone or unreachable
	Validity   int64         `json:"validity"` // seconds for which this may be kept
	Detail     string        `json:"detail,omitempty"`
	Warnings   []warningJSON `json:"warnings,omitempty"`
}

type warningJSON struct {
	Rule    string `json:"rule"`
	Says    string `json:"says"`
	Section string `json:"section"`
}

// serveDescription answers with what is known of an identifier, whether or not it
// leads anywhere.
func (h *Handler) serveDescription(w http.ResponseWriter, r *http.Request, q resolver.Query) {
	known, err := h.config.Names.Describe(q.URI)
	if err != nil {
		h.fail(w, r, err, q.URI.String(), nil)
		return
	}
	q.Service = resolver.I2Ls
	answer, err := h.config.Resolver.Resolve(r.Context(), q)
	if err != nil {
		h.report(r, err, eventOf(w).ID)
	}
	d := describe(known, answer, err)
	var n *resolver.Negative
	if errors.As(err, &n) {
		answer.TTL, answer.Cache = n.TTL, n.Cache
	}
	d.Validity = max(seconds(answer.TTL), 0)
	switch chosen := negotiate(w, r, descriptionTypes); {
	case chosen.Equal(typeCSV):
		respond(w, r, "text/csv; charset=utf-8; header=present", answer, d.csv())
	case chosen.Equal(typeHTML):
		respond(w, r, "text/html; charset=utf-8", answer, render(pageData{Title: known.Name.Display(), Rows: d.rows()}))
	case chosen.Equal(typeJSON):
		respond(w, r, "application/json", answer, marshal(d))
	default:
		respond(w, r, "application/ld+json", answer, marshal(d))
	}
}

func describe(known resolver.Description, answer resolver.Answer, err error) descriptionJSON {
	d := descriptionJSON{
		Context: "https://schema.org", Type: "Thing", ID: known.Name.String(), Identifier: known.Name.String(),
		SameAs: []string{}, URL: textsOf(answer.Locations),
		Namespace: known.Namespace, Document: known.Document, Conforms: known.Conforms, Status: "located",
	}
	for _, other := range known.Others {
		d.SameAs = append(d.SameAs, other.String())
	}
	for _, doubt := range known.Doubts {
		d.Warnings = append(d.Warnings, warningJSON{doubt.Name, doubt.Says, doubt.Section})
	}
	switch {
	case err == nil:
		return d
	case errors.Is(err, resolver.ErrGone):
		d.Status = "gone"
	case errors.Is(err, resolver.ErrNotFound), errors.Is(err, resolver.ErrUnsupported):
		d.Status = "unknown"
	default:
		d.Status = "unreachable"
	}
	d.Detail = newProblem(err, "").Detail
	return d
}

// rows are the properties, one a row; a property with many values has many.
func (d descriptionJSON) rows() [][2]string {
	rows := [][2]string{{"identifier", d.Identifier}}
	add := func(name string, values ...string) {
		for _, value := range values {
			if value != "" {
				rows = append(rows, [2]string{name, value})
			}
		}
	}
	add("status", d.Status)
	add("detail", d.Detail)
	add("validity", strconv.FormatInt(d.Validity, 10))
	add("url", d.URL...)
	add("sameAs", d.SameAs...)
	add("namespace", d.Namespace)
	add("document", d.Document)
	add("conforms", d.Conforms...)
	for _, warning := range d.Warnings {
		add("warning", warning.Says+" ("+warning.Section+")")
	}
	return rows
}

// csv is RFC 4180, with a header.
func (d descriptionJSON) csv() []byte {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	c.UseCRLF = true
	_ = c.Write([]string{"property", "value"}) // a buffer takes all
	for _, row := range d.rows() {
		_ = c.Write(row[:])
	}
	c.Flush()
	return b.Bytes()
}
