package scheme_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
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
	if _, err := mux.Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{URI: parse(t, "ftp://a/")}}); !errors.Is(err,
		scheme.ErrUnsupported) {
		t.Errorf("a scheme without handler: %v", err)
	}
	if r, err := mux.Fetch(t.Context(),
		scheme.Request{Request: httpmessage.Request{URI: parse(t, "http://a/")}}); err != nil ||
		r.Status != http.StatusTeapot {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSelf(t *testing.T) {
	answer, err := scheme.NewSelf().Resolve(t.Context(), resolver.Query{URI: parse(t, "http://a/")})
	if err != nil || answer.Locations[0].URI != "http://a/" || answer.TTL != 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	if _, err := scheme.NewSelf().Resolve(t.Context(), resolver.Query{URI: parse(t, "javascript:a")}); !errors.Is(err,
		resolver.ErrForbidden) {
		t.Errorf("%v", err)
	}
	if _, err := scheme.NewSelf().Resolve(t.Context(), resolver.Query{URI: parse(t, "unknown:a")}); !errors.Is(err,
		resolver.ErrService) {
		t.Errorf("%v", err)
	}
	if _, err := scheme.NewSelf().Resolve(t.Context(),
		resolver.Query{URI: parse(t, "http://a/"), Service: resolver.I2R}); !errors.Is(err, resolver.ErrService) {
		t.Errorf("%v", err)
	}
}

// handlerFunc implements scheme.Handler.
type handlerFunc func(ctx context.Context, r scheme.Request) (*scheme.Resource, error)

func (f handlerFunc) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	return f(ctx, r)
}

// TestLocalGateway: a handler that connects to no server is not called if Check denies this machine.
func TestLocalGateway(t *testing.T) {
	requested := false
	g := scheme.Gateway{
		Info: scheme.Info{Local: true},
		Handler: handlerFunc(func(context.Context, scheme.Request) (*scheme.Resource, error) {
			requested = true
			return scheme.ListingResource(&scheme.Listing{}), nil
		}),
	}
	denied := errors.New("denied")
	_, err := g.Fetch(t.Context(), scheme.Request{
		Request: httpmessage.Request{Method: http.MethodGet, URI: parse(t, "telnet://a/")},
		Check:   func(netip.AddrPort) error { return denied },
	})
	if err != denied || requested { //nolint:errorlint // it must be returned unwrapped
		t.Errorf("%v, asked %t", err, requested)
	}
}
