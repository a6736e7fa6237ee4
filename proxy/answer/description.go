package answer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// Media types of a description: I2C of RFC 2483 section 4.5.
const (
	typeLD  = "application/ld+json"
	typeCSV = "text/csv"
)

// descriptionJSON is a Thing of schema.org, with properties of urnd, which descriptionContext distinguishes.
type descriptionJSON struct {
	known resolver.Description
	title string // of its page

	Context    json.RawMessage `json:"@context"`
	Type       string          `json:"@type"`
	ID         string          `json:"@id"`
	Identifier string          `json:"identifier"`
	SameAs     []string        `json:"sameAs"`
	URL        []string        `json:"url"`
	Namespace  string          `json:"namespace,omitempty"`
	Document   string          `json:"document,omitempty"`
	Conforms   []string        `json:"conforms,omitempty"`
	Status     string          `json:"status"`   // located, unknown, gone or unreachable
	Validity   int64           `json:"validity"` // freshness lifetime in seconds
	Detail     string          `json:"detail,omitempty"`
	SubjectOf  []workJSON      `json:"subjectOf,omitempty"` // descriptions by authorities
	Warnings   []warningJSON   `json:"warnings,omitempty"`
	Record     *api.Record     `json:"record,omitempty"` // in the registry of the site
}

// workJSON is a CreativeWork of schema.org: the description by an authority.
type workJSON struct {
	Type     string `json:"@type"`
	URL      string `json:"url"`
	Format   string `json:"encodingFormat,omitempty"`
	Text     string `json:"text,omitempty"`
	Provider string `json:"provider"`
}

type warningJSON struct {
	Rule    string `json:"rule"`
	Says    string `json:"says"`
	Section string `json:"section"`
}

// description replies with the description of an identifier, even if it has no location.
func (a *Responder) description(ctx context.Context, q *Request) (message.Reply, error) {
	chosen, err := formatOf(q)
	switch {
	case err != nil:
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	case chosen.isLinkset():
		return a.linkset(ctx, q, chosen)
	case chosen.name == formatQR:
		return a.code(q)
	}
	if chosen.mediaType != pages.Type {
		located, failure := a.locate(ctx, q.Query)
		return a.inFormat(ctx, q, chosen, located, failure, nil)
	}
	traced, trace := a.traced(ctx)
	located, failure := a.locate(traced, q.Query)
	return a.inFormat(ctx, q, chosen, located, failure, trace.PublicSteps())
}

// traced returns a context with a trace: the existing one, or a new one.
func (a *Responder) traced(ctx context.Context) (context.Context, *resolver.Trace) {
	if trace := resolver.TraceOf(ctx); trace != nil {
		return ctx, trace
	}
	return resolver.WithTrace(ctx, a.config.Now)
}

// inFormat is description for a result of locate (an answer or a failure), and the steps of its resolution,
// which pages show.
func (a *Responder) inFormat(
	ctx context.Context, q *Request, chosen *format, located resolver.Answer, failure error, steps []resolver.Step,
) (message.Reply, error) {
	known, err := a.config.Names.Describe(q.Query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	d, answer, failure := a.describeLocated(ctx, q.Query, known, located, failure)
	record := recordOf(answer, failure)
	var reply message.Reply
	switch {
	case chosen.mediaType == pages.Type:
		reply = shown(a.page(ctx, q, &d, answer, failure, steps), answer)
	case chosen.write != nil && record != nil:
		w := workOf(q.Base, d.known, answer, record)
		w.Support = a.supportOf(w.Name, record)
		reply = negotiated(chosen.contentType, chosen.write(w), answer)
	default:
		reply = d.reply(chosen, answer)
	}
	reply.Failure, reply.Record = failure, record
	if authoritative(failure) {
		reply.Status = problem.Status(failure)
	}
	addLinks(&reply, q, d.ID)
	if chosen.mediaType == pages.Type && (record != nil || q.IsName && failure == nil) {
		for _, l := range pageLinks(workOf(q.Base, d.known, answer, record), record != nil) {
			reply.AddLink(string(appendLink(nil, &l, "")))
		}
	}
	a.addMemento(&reply, q, d.ID, record)
	return withRecord(reply, q.Base, record), nil
}

// describe returns the description of an identifier, with the answer that it is based on. failure is the
// reason why there is no location, or no description by the authority. err means that the identifier is
// invalid.
func (a *Responder) describe(
	ctx context.Context, q resolver.Query,
) (d descriptionJSON, answer resolver.Answer, failure, err error) {
	known, err := a.config.Names.Describe(q)
	if err != nil {
		return descriptionJSON{}, resolver.Answer{}, nil, err
	}
	answer, failure = a.locate(ctx, q)
	d, answer, failure = a.describeLocated(ctx, q, known, answer, failure)
	return d, answer, failure, nil
}

// describeLocated is describe for a result of locate.
func (a *Responder) describeLocated(
	ctx context.Context, q resolver.Query, known resolver.Description, answer resolver.Answer, failure error,
) (descriptionJSON, resolver.Answer, error) {
	d := describe(known, answer, failure)
	recorded := answer.Record() != nil || resolver.RecordOf(failure) != nil
	n := negativeOf(failure)
	answer = lasting(answer, failure)
	if !authoritative(failure) && !recorded { // the registry has nothing but its record
		reported, unrequested := a.ask(ctx, q, resolver.I2C)
		d.SubjectOf = works(reported.Locations)
		answer.TTL = min(answer.TTL, reported.TTL)
		if failure == nil || n != nil {
			failure = unrequested
		}
	}
	d.Validity = max(api.Seconds(answer.Lifetime()), 0)
	return d, answer, failure
}

// works returns the descriptions by authorities.
func works(locations []resolver.Location) []workJSON {
	var all []workJSON
	for _, l := range locations {
		all = append(all, workJSON{
			Type: "CreativeWork", URL: l.URI, Format: l.From.Type, Text: l.From.Content,
			Provider: l.From.Name,
		})
	}
	return all
}

// reply returns the description in a format.
func (d descriptionJSON) reply(chosen *format, answer resolver.Answer) message.Reply {
	var body []byte
	switch chosen.mediaType {
	case typeCSV:
		body = d.csv()
	case typePlain:
		body = d.plain()
	default:
		body = message.Marshal(d)
	}
	return negotiated(chosen.contentType, body, answer)
}

func describe(known resolver.Description, answer resolver.Answer, err error) descriptionJSON {
	d := descriptionJSON{
		known: known, title: known.Name.Display(),
		Context: json.RawMessage(descriptionContext), Type: "Thing", ID: known.Name.String(),
		Identifier: known.Name.String(), SameAs: []string{}, URL: textsOf(answer.Locations),
		Namespace: known.Namespace, Document: known.Document, Conforms: known.Conforms, Status: "located",
	}
	for _, other := range known.Others {
		d.SameAs = append(d.SameAs, other.String())
	}
	for _, warning := range known.Warnings {
		d.Warnings = append(d.Warnings, warningJSON{warning.Name, warning.Requirement, warning.Section})
	}
	switch {
	case err == nil:
		d.Record = api.NewRecord(answer.Record())
		return d
	case errors.Is(err, resolver.ErrGone):
		d.Status = "gone"
	case errors.Is(err, resolver.ErrNotFound), errors.Is(err, resolver.ErrUnsupported):
		d.Status = "unknown"
	default:
		d.Status = "unreachable"
	}
	p := problem.New(err)
	d.Detail, d.Record = p.Detail, p.Record
	if d.Record != nil && errors.Is(err, resolver.ErrNotFound) {
		d.Status = d.Record.Status
	}
	return d
}

// rows returns the properties, one row for each value.
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
	for _, work := range d.SubjectOf {
		add("subjectOf", work.URL)
		add("text", work.Text)
	}
	if r := d.Record; r != nil {
		add("since", r.Since)
		add("reason", r.Reason)
		add("successor", r.Successors...)
		add("metadata", string(r.Metadata))
		add("contact", r.Contact)
		if r.Redirect != 0 {
			add("redirect", strconv.Itoa(r.Redirect))
		}
		add("version", strconv.Itoa(r.Version))
		add("changed", r.Changed)
		if r.Sandbox {
			add("sandbox", "sandbox: it may be removed")
		}
	}
	for _, warning := range d.Warnings {
		add("warning", warning.Says+" ("+warning.Section+")")
	}
	return rows
}

// plain returns one line for each property.
func (d descriptionJSON) plain() []byte {
	var b bytes.Buffer
	for _, row := range d.rows() {
		fmt.Fprintf(&b, "%s: %s\r\n", row[0], strings.Join(strings.Fields(row[1]), " "))
	}
	return b.Bytes()
}

// csv returns CSV with a header: RFC 4180.
func (d descriptionJSON) csv() []byte {
	var b bytes.Buffer
	c := tabular.NewDocumentWriter(&b)
	_ = c.Write("property", "value") // a buffer does not fail
	for _, row := range d.rows() {
		_ = c.Write(row[:]...)
	}
	_ = c.Flush()
	return b.Bytes()
}
