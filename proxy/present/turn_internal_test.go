package present

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// listed is a scheme.Handler whose listing has a text of this number of bytes.
type listed int

func (l listed) Fetch(context.Context, scheme.Request) (*scheme.Resource, error) {
	return scheme.ListingResource(&scheme.Listing{Kind: scheme.KindArticle, Text: strings.Repeat("a", int(l))}), nil
}

// TestLargeListingsWait: a large listing waits for a slot until ctx ends; a small one does not wait.
func TestLargeListingsWait(t *testing.T) {
	u, err := uri.Parse("gopher://h.example/")
	if err != nil {
		t.Fatal(err)
	}
	r := scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}}
	large := make(chan struct{}, 1)
	p := Handler{maxBytes: 1 << 20, large: large, pages: pages.New(pages.Site{})}
	p.Handler = listed(largeListing / 2)
	large <- struct{}{}
	if resource, err := p.Fetch(t.Context(), r); err != nil || resource.ContentLength < largeListing/2 {
		t.Errorf("a small one: %+v, %v", resource, err)
	}
	p.Handler = listed(2 * largeListing)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if resource, err := p.Fetch(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("a large one beside another: %+v, %v", resource, err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := p.Fetch(t.Context(), r)
		waiting <- err
	}()
	<-large
	if err := <-waiting; err != nil || len(large) != 0 {
		t.Errorf("after the other: %v, %d are still counted", err, len(large))
	}
}
