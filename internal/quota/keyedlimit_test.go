package quota_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/urnd/urnd/internal/quota"
)

func TestShares(t *testing.T) {
	s := quota.NewKeyedLimit[string](3, 2)
	var releases []func()
	for i, tt := range []struct {
		key  string
		want error
	}{
		{"a", nil},
		{"a", nil},
		{"a", quota.ErrQuota},
		{"b", nil}, // not affected by the other key
		{"b", quota.ErrBusy},
		{"a", quota.ErrQuota},
	} {
		release, err := s.Acquire(tt.key)
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%d, %s: %v, want %v", i, tt.key, err, tt.want)
		}
		if err == nil {
			releases = append(releases, release)
		}
	}
	for _, release := range releases {
		release()
	}
	for range 2 { // failed acquisitions took nothing
		if _, err := s.Acquire("b"); err != nil {
			t.Error(err)
		}
	}
}

// TestSharesWait checks that a key with a hundred waiting operations is not served earlier than a key with one.
func TestSharesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quota.NewKeyedLimit[string](2, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		served := make(chan string)
		wait := func(key string) {
			release, err := s.Wait(ctx, key)
			if err == nil {
				defer release()
				select {
				case served <- key:
				case <-ctx.Done():
				}
			} else if !errors.Is(err, errFull) {
				t.Errorf("%s: %v", key, err)
			}
		}
		for range 100 {
			go wait("a")
		}
		synctest.Wait()
		go wait("b")
		synctest.Wait()
		if first, second := <-served, <-served; first == second {
			t.Errorf("two are served of %s", first)
		}
		cancel(errFull)
		synctest.Wait()
		if _, err := s.Acquire("b"); err != nil {
			t.Errorf("places are lost: %v", err)
		}
	})
}
