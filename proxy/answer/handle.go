package answer

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Response codes of the Handle System: RFC 3652 section 2.2.2.3, and the HTTP interface of the Handle.net
// software.
const (
	handleFound    = 1
	handleFailed   = 2
	handleNotFound = 100
	handleInvalid  = 102
	handleNoValues = 200
)

// handleJSON is a response of the JSON interface of the Handle System.
type handleJSON struct {
	Code    int           `json:"responseCode"`
	Handle  string        `json:"handle"`
	Message string        `json:"message,omitempty"`
	Values  []handleValue `json:"values,omitempty"`
}

// handle replies to a request for a name of the registry as a handle. Names of other authorities are not
// found: their own servers resolve them.
func (a *Responder) handle(ctx context.Context, q *Request) (message.Reply, error) {
	chosen, err := handleFilterOf(q.Values)
	if err != nil {
		return message.Reply{}, err
	}
	name, err := a.config.Names.CanonicalName(q.Query.URI)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	record := answer.Record()
	var n *resolver.Negative
	// It is registered, but has no target.
	if errors.As(err, &n) && errors.Is(err, resolver.ErrNotFound) && isRecordOf(n.Record, name.String()) {
		answer, record, err = resolver.Answer{TTL: n.Lifetime(), Cache: n.Cache}, n.Record, nil
	}
	switch {
	case err != nil:
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	case record == nil:
		return message.Reply{},
			problem.WithURI(&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the name is not registered"},
				q.Query.URI)
	}
	found := handleJSON{Code: handleFound, Handle: q.Handle}
	for _, v := range a.handleValues(name.String(), answer, record) {
		if chosen.has(v) {
			found.Values = append(found.Values, v)
		}
	}
	if len(found.Values) == 0 {
		found.Code = handleNoValues
	}
	reply := message.Document(typeJSON, chosen.marshal(found), answer)
	reply.Record = record
	return WithLinks(reply, q.Base, name.String(), record), nil
}

// isRecordOf reports whether a record is that of a name, or of the name that it is an alias of, and not that
// of a prefix of the name; false for nil.
func isRecordOf(record *resolver.Record, name string) bool {
	return record != nil && (record.Name == name || !mayBePrefix(record.Name) || !strings.HasPrefix(name, record.Name))
}

// mayBePrefix reports whether a name may be a prefix of the registry: prefixes end with neither a letter nor
// a digit.
func mayBePrefix(name string) bool {
	const others = ":/?#[]@!$&'()*+,;=-._~"
	return name != "" && strings.Contains(others, name[len(name)-1:])
}

// HandleError returns the error reply to a request for a handle, in the JSON of the Handle System instead of
// a page.
func HandleError(reply message.Reply, handle string, err error) message.Reply {
	failed := handleJSON{Code: handleFailed, Handle: handle, Message: problem.New(err).Detail}
	switch {
	case errors.As(err, new(*uri.ParseError)):
		failed.Code = handleInvalid
	case reply.Status == http.StatusNotFound, reply.Status == http.StatusGone:
		failed.Code = handleNotFound
	}
	reply.ContentType, reply.Body, reply.Vary = typeJSON, message.MarshalLine(failed), ""
	reply.Fields.Del("Content-Language") // of the page for browsers
	reply.Fields.Del("Content-Security-Policy")
	return reply
}

// handleFilter selects values of a handle: those of the types and those with the indexes, all values if both
// are empty.
type handleFilter struct {
	types, indexes []string
	pretty         bool
}

// handleFilterOf returns the filter of the query parameters. "auth" and "cert" have no effect: answers come
// from the registry, and are not signed. "callback" is not supported: it would make a script of the reply,
// and cross-origin pages can read the reply without it.
func handleFilterOf(parameters string) (handleFilter, error) {
	values, err := url.ParseQuery(parameters)
	if err != nil {
		return handleFilter{}, &uri.ParseError{Input: parameters, Rule: ruleHandleValues}
	}
	pretty := values.Get("pretty")
	return handleFilter{values["type"], values["index"], values.Has("pretty") && pretty != "false"}, nil
}

var ruleHandleValues = uri.Rule{
	Code: "parameters", Name: "parameters", Section: "urnd's API",
	Requirement: "parameters are separated by \"&\", and percent-encoded",
}

// has reports whether a value is selected.
func (f handleFilter) has(v handleValue) bool {
	if len(f.types) == 0 && len(f.indexes) == 0 {
		return true
	}
	for _, of := range f.types {
		if strings.EqualFold(of, v.Type) {
			return true
		}
	}
	for _, of := range f.indexes {
		if of == v.index() {
			return true
		}
	}
	return false
}

func (f handleFilter) marshal(document handleJSON) []byte {
	if f.pretty {
		return message.Marshal(document)
	}
	return message.MarshalLine(document)
}

// titleOf returns the title in the metadata of a record, "" if it is missing or no text.
func titleOf(metadata string) string {
	var of struct {
		Title json.RawMessage `json:"title"`
	}
	if json.Unmarshal([]byte(metadata), &of) != nil {
		return ""
	}
	var title string
	var titles []string
	switch {
	case json.Unmarshal(of.Title, &title) == nil:
		return title
	case json.Unmarshal(of.Title, &titles) == nil && len(titles) > 0:
		return titles[0]
	default:
		return ""
	}
}

// timestamp formats a time for values of handles.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lifetime returns the TTL of the values of an answer, in seconds.
func lifetime(answer resolver.Answer) int64 { return max(api.Seconds(answer.Lifetime()), 0) }
