package admin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// slow are names of which searches end when a test says so.
type slow struct {
	Names
	end chan struct{}
}

func (s slow) Search(context.Context, registry.Search, func(registry.Entry) error) (registry.Searched, error) {
	<-s.end
	return registry.Searched{}, nil
}

// So many searches run at a time; others wait for their turn, and not for ever. Those with one token leave some for others.
func TestSearchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		h := &Handler{config: Config{Registry: &Registry{Names: slow{end: end}}}, shares: newShares()}
		failed := make(chan error, maxSearches+2)
		search := func(token string) {
			go func() {
				c := &call{Request: httptest.NewRequest(http.MethodGet, "/", nil), actor: registry.Actor{Token: token}}
				_, err := h.searchNames(c, registry.Search{}, nil)
				failed <- err
			}()
			synctest.Wait()
		}
		for range maxSearchesOfToken + 1 {
			search("a")
		}
		if err := <-failed; !errors.Is(err, resolver.ErrBusy) {
			t.Errorf("one more with a token: %v", err)
		}
		for i := range maxSearches - maxSearchesOfToken + 1 {
			search(string(rune('b' + i)))
		}
		if err := <-failed; !errors.Is(err, resolver.ErrBusy) {
			t.Errorf("one more: %v", err)
		}
		close(end)
		for range maxSearches {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
	})
}
