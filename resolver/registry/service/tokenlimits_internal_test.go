package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// A token that uses up its limit, with a thousand further requests waiting, does not block another token or the
// administrator.
func TestSharesOfTokens(t *testing.T) {
	for _, tt := range []struct {
		name    string
		acquire func(s *tokenLimits, ctx context.Context, token string) (release func(), err error)
		most    int
		refused error // error of a token over its limit; nil if it waits
	}{
		{"requests", func(s *tokenLimits, ctx context.Context, token string) (func(), error) {
			return s.Enter(ctx, registry.Actor{Token: token})
		}, maxRequestsOfToken, nil},
		{"searches", func(s *tokenLimits, ctx context.Context, token string) (func(), error) {
			return s.searching(ctx, registry.Actor{Token: token})
		}, maxSearchesOfToken, nil},
		{"exports", func(s *tokenLimits, _ context.Context, token string) (func(), error) {
			return s.export(registry.Actor{Token: token})
		}, maxExportsOfToken, registry.ErrTokenLimit},
		{"uploads", func(s *tokenLimits, _ context.Context, token string) (func(), error) {
			return s.Upload(registry.Actor{Token: token})
		}, maxUploadsOfToken, registry.ErrTokenLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTokenLimits()
				ctx, leave := context.WithCancel(t.Context())
				taken, ended := make(chan func(), 2000), make(chan error, 2000)
				for range 1000 {
					go func() {
						release, err := tt.acquire(&s, ctx, "adversary")
						if err == nil {
							taken <- release
						}
						ended <- err
					}()
				}
				synctest.Wait()
				if len(taken) != tt.most {
					t.Errorf("the adversary has %d, want %d", len(taken), tt.most)
				}
				for _, token := range []string{"another", ""} {
					go func() {
						release, err := tt.acquire(&s, ctx, token)
						if err == nil {
							release()
						}
						ended <- err
					}()
					before := len(ended)
					if synctest.Wait(); len(ended) != before+1 {
						t.Errorf("%q waits", token)
					}
				}
				leave()
				synctest.Wait()
				refused := 0
				for range len(ended) {
					switch err := <-ended; {
					case err == nil:
					case tt.refused == nil &&
						(errors.Is(err, context.Canceled) || errors.Is(err, resolver.ErrBusy)), tt.refused != nil &&
						errors.Is(err, tt.refused):
						refused++
					default:
						t.Error(err)
					}
				}
				if refused != 1000-tt.most {
					t.Errorf("%d are refused, want the others of the adversary", refused)
				}
			})
		})
	}
}
