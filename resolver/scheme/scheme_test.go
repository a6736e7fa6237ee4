package scheme_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

func parse(t *testing.T, s string) uri.URI {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// echo is a handler whose resource is the request.
type echo struct{}

func (echo) Fetch(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
	body := r.Method + " " + r.URI.String() + " "
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body += string(sent)
	}
	return &scheme.Resource{Response: httpmessage.Response{
		Status: http.StatusTeapot, Fields: r.Fields, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}}, nil
}

func TestMux(t *testing.T) {
	mux := scheme.Mux{"http": echo{}}
	if _, err := mux.Fetch(t.Context(), scheme.Request{Request: httpmessage.Request{URI: parse(t, "ftp://a/")}}); !errors.Is(err, scheme.ErrUnsupported) {
		t.Errorf("a scheme without handler: %v", err)
	}
	if r, err := mux.Fetch(t.Context(), scheme.Request{Request: httpmessage.Request{URI: parse(t, "http://a/")}}); err != nil || r.Status != http.StatusTeapot {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSelf(t *testing.T) {
	answer, err := scheme.NewSelf().Resolve(t.Context(), resolver.Query{URI: parse(t, "http://a/")})
	if err != nil || answer.Locations[0].URI != "http://a/" || answer.TTL != 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	if _, err := scheme.NewSelf().Resolve(t.Context(), resolver.Query{URI: parse(t, "javascript:a")}); !errors.Is(err, resolver.ErrForbidden) {
		t.Errorf("%v", err)
	}
	if _, err := scheme.NewSelf().Resolve(t.Context(), resolver.Query{URI: parse(t, "unknown:a")}); !errors.Is(err, resolver.ErrService) {
		t.Errorf("%v", err)
	}
	if _, err := scheme.NewSelf().Resolve(t.Context(), resolver.Query{URI: parse(t, "http://a/"), Service: resolver.I2R}); !errors.Is(err, resolver.ErrService) {
		t.Errorf("%v", err)
	}
}
