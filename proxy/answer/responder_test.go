package answer_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

const maxTarget = 1024

// responder is a Responder with a resolver that a test can replace, and which locates each name at a.example.
type responder struct {
	*answer.Responder
	next   resolver.Func
	http10 bool // clients use HTTP/1.0
	rights answer.BatchRights
	config answer.Config
}

func start(t testing.TB, change func(*answer.Config)) *responder {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	s := &responder{
		next: func(_ context.Context, q resolver.Query) (resolver.Answer, error) { return at(q), nil },
		rights: answer.BatchRights{
			URLs: true, Allow: func() bool { return true },
			WithClient: func(q resolver.Query) resolver.Query { return q }, Report: func(error) {},
			Answered: func(*resolver.Record) {},
		},
	}
	names := resolver.Names{Set: set, Accept: uri.CurrentURN}
	next := resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
		return s.next(ctx, q)
	})
	config := answer.Config{
		Names: names, Resolver: resolver.NewCanonical(names, &resolver.Mux{Names: next, Locations: scheme.NewSelf()}),
		Now: time.Now, RuleTTL: time.Hour, Failing: func(string) bool { return false }, MaxTarget: maxTarget,
		BatchTimeout: time.Minute, ClientQuotaPercent: 100, Pages: pages.New(pages.Site{}),
		Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) },
	}
	if change != nil {
		change(&config)
	}
	s.config, s.Responder = config, answer.New(config)
	return s
}

// at returns an answer with the location of a name at a.example.
func at(q resolver.Query) resolver.Answer {
	return resolver.Answer{
		Locations: []resolver.Location{{
			URI:  "https://a.example/" + q.URI.String(),
			From: &resolver.Source{Name: "test"},
		}},
		TTL: 90 * time.Second, Cache: resolver.CacheHit,
	}
}

// withLocations returns locations, and nothing for services of authorities.
func withLocations(uris ...string) resolver.Func {
	return func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if !q.Service.Locates() {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Unclaimed: true}
		}
		answer := resolver.Answer{TTL: time.Minute, Cache: resolver.CacheHit}
		for _, u := range uris {
			answer.Locations = append(answer.Locations, resolver.Location{URI: u, From: &resolver.Source{Name: "test"}})
		}
		return answer, nil
	}
}

// failing returns an error.
func failing(err error) resolver.Func {
	return func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, err }
}

// headerOf returns the header with fields of the form "Name: value".
func headerOf(fields ...string) http.Header {
	header := make(http.Header)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		header.Add(name, value)
	}
	return header
}

// reply returns the reply to a request-target.
func (s *responder) reply(t testing.TB, target string, header http.Header) (message.Reply, error) {
	t.Helper()
	parsed, err := route.Parse(target)
	if err != nil {
		return message.Reply{}, err
	}
	return s.Reply(t.Context(),
		&answer.Request{
			Target: &parsed, Header: httpmessage.NewHeader(header), HTTP11: !s.http10,
			IsName: parsed.Query.IsURN(),
		})
}

// get returns the response to a request, including an error response.
func (s *responder) get(t testing.TB, target string, fields ...string) *http.Response {
	t.Helper()
	header := headerOf(fields...)
	reply, err := s.reply(t, target, header)
	return written(header, reply, err)
}

// asked returns the response of the server https://r.example, whose registry owns prefixes and identifiers.
func (s *responder) asked(t testing.TB, target string, fields ...string) *http.Response {
	t.Helper()
	header := headerOf(fields...)
	place := route.Endpoint{Server: &route.Server{
		Names: s.config.Names, Handles: s.config.Handles,
		PublicURL: "https://r.example",
	}}
	var ask route.Request
	route.Classify(&ask, &route.RequestHead{
		Method: http.MethodGet, Target: target, Host: "a",
		Header: httpmessage.NewHeader(header),
	}, &place)
	var reply message.Reply
	err := ask.Err
	if err == nil {
		reply, err = s.Reply(t.Context(), &answer.Request{
			Target: &ask.Target, Header: httpmessage.NewHeader(header), HTTP11: !s.http10, IsName: ask.IsName,
			Base: place.Base("a"),
		})
	}
	if err != nil && ask.Target.Form == route.FormHandle {
		return written(header, answer.HandleError(problem.Reply(s.config.Pages, httpmessage.NewHeader(header), err),
			ask.Target.Handle, err), nil)
	}
	return written(header, reply, err)
}

// written returns the response for a reply or an error.
func written(header http.Header, reply message.Reply, err error) *http.Response {
	if err != nil {
		reply = problem.Reply(pages.New(pages.Site{}), httpmessage.NewHeader(header), err)
	}
	var w proxytest.Recorder
	message.Write(&w, http.MethodGet, reply, nil)
	return w.Result()
}

func text(t testing.TB, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
