package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// slow is a store whose reads block until the test ends them.
type slow struct {
	registry.Store
	end chan struct{}
}

func (s slow) Read(context.Context, func(registry.Tx) error) error {
	<-s.end
	return nil
}

// The number of concurrent searches is limited, per token and in total; further ones wait, up to a time limit.
func TestSearchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		s := New(Config{Registry: registry.New(registry.Config{Store: slow{end: end}, Now: time.Now})})
		failed := make(chan error, maxSearches+2)
		search := func(token string) {
			go func() {
				_, err := s.find(t.Context(), registry.Actor{Token: token}, registry.Search{}, nil)
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
