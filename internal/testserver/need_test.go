package testserver

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// verdict is a test that records how it ends.
type verdict struct {
	testing.TB
	ended string
}

func (*verdict) Helper() {}

func (v *verdict) Skipf(format string, args ...any) {
	v.ended = "skip: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.ended = "fatal: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestNeedMissing(t *testing.T) {
	for ci, want := range map[string]string{"": "skip: ", "true": "fatal: "} {
		t.Run("CI="+ci, func(t *testing.T) {
			t.Setenv("CI", ci)
			var v verdict
			done := make(chan struct{})
			go func() {
				defer close(done)
				Need(&v, "no-such-peer")
			}()
			<-done
			if !strings.HasPrefix(v.ended, want) || !strings.Contains(v.ended, "no-such-peer") {
				t.Fatalf("ended with %q, want %q and the name", v.ended, want)
			}
		})
	}
}

func TestNeedPresent(t *testing.T) {
	if path := Need(t, "sh"); !filepath.IsAbs(path) {
		t.Fatalf("path %q, want an absolute one", path)
	}
}
