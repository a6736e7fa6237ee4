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

// The response codes of the Handle System that replies have: RFC 3652 section 2.2.2.3, and the HTTP interface of the Handle.net software.
const (
	handleFound    = 1
	handleFailed   = 2
	handleNotFound = 100
	handleInvalid  = 102
	handleNoValues = 200
)

// handleJSON is what the JSON interface of the Handle System says of a handle.
type handleJSON struct {
	Code    int           `json:"responseCode"`
	Handle  string        `json:"handle"`
	Message string        `json:"message,omitempty"`
	Values  []handleValue `json:"values,omitempty"`
}

// handle answers for a name of the registry as a handle. Names of others are not found: they are for their own servers to answer.
func (a *Responder) handle(ctx context.Context, q *Question) (message.Reply, error) {
	chosen, err := handleFilterOf(q.Values)
	if err != nil {
		return message.Reply{}, err
	}
	name, err := a.config.Names.Key(q.Query.URI)
	if err != nil {
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	record := answer.Record()
	var n *resolver.Negative
	if errors.As(err, &n) && errors.Is(err, resolver.ErrNotFound) && isRecordOf(n.Record, name.String()) { // it leads nowhere now
		answer, record, err = resolver.Answer{TTL: n.Lifetime(), Cache: n.Cache}, n.Record, nil
	}
	switch {
	case err != nil:
		return message.Reply{}, problem.About(err, q.Query.URI)
	case record == nil:
		return message.Reply{}, problem.About(&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the name is not registered"}, q.Query.URI)
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
	return About(reply, q.Base, name.String(), record), nil
}

// isRecordOf reports whether a record is of a name or of what that is an alias of, and not of a prefix of it; false for nil.
func isRecordOf(record *resolver.Record, name string) bool {
	return record != nil && (record.Name == name || !mayBePrefix(record.Name) || !strings.HasPrefix(name, record.Name))
}

// mayBePrefix reports whether a name may be a prefix of the registry: those end with neither a letter nor a digit.
func mayBePrefix(name string) bool {
	const others = ":/?#[]@!$&'()*+,;=-._~"
	return name != "" && strings.Contains(others, name[len(name)-1:])
}

// HandleFailed returns the reply with an error to a request for a handle, in place of one for people.
func HandleFailed(reply message.Reply, handle string, err error) message.Reply {
	failed := handleJSON{Code: handleFailed, Handle: handle, Message: problem.New(err).Detail}
	switch {
	case errors.As(err, new(*uri.ParseError)):
		failed.Code = handleInvalid
	case reply.Status == http.StatusNotFound, reply.Status == http.StatusGone:
		failed.Code = handleNotFound
	}
	reply.ContentType, reply.Body, reply.Vary = typeJSON, message.Line(failed), ""
	reply.Fields.Del("Content-Language") // of the page that browsers get elsewhere
	reply.Fields.Del("Content-Security-Policy")
	return reply
}

// handleFilter says which values of a handle are asked for: those of the types and those with the indexes, all where it has neither.
type handleFilter struct {
	types, indexes []string
	isPretty       bool
}

// handleFilterOf returns the filter of the parameters of a request. The parameters "auth" and "cert" change nothing: answers are of the
// registry, and signed by nobody. "callback" would make a script of the answer, which pages of other sites can read without it.
func handleFilterOf(parameters string) (handleFilter, error) {
	values, err := url.ParseQuery(parameters)
	if err != nil {
		return handleFilter{}, &uri.ParseError{Input: parameters, Rule: ruleHandleValues}
	}
	pretty := values.Get("pretty")
	return handleFilter{values["type"], values["index"], values.Has("pretty") && pretty != "false"}, nil
}

var ruleHandleValues = uri.Rule{Code: "parameters", Name: "parameters", Section: "urnd's API", Says: "parameters are separated by \"&\", and percent-encoded"}

// has reports whether a value is asked for.
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
	if f.isPretty {
		return message.Marshal(document)
	}
	return message.Line(document)
}

// titleOf returns the title in the metadata of a record, "" where it has none that is text.
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

// timestamp returns a time as values of handles have it.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// lifetime returns the TTL of the values of an answer, in seconds.
func lifetime(answer resolver.Answer) int64 { return max(api.Seconds(answer.Lifetime()), 0) }
