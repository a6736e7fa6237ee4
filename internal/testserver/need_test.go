package testserver

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a testing.TB that records how the test ends.
type recorder struct {
	testing.TB
	ended string
}

func (*recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.ended = "skip: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.ended = "fatal: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestNeedMissing(t *testing.T) {
	for ci, want := range map[string]string{"": "skip: ", "true": "fatal: "} {
		t.Run("CI="+ci, func(t *testing.T) {
			t.Setenv("CI", ci)
			var r recorder
			done := make(chan struct{})
			go func() {
				defer close(done)
				Need(&r, "no-such-peer")
			}()
			<-done
			if !strings.HasPrefix(r.ended, want) || !strings.Contains(r.ended, "no-such-peer") {
				t.Fatalf("ended with %q, want %q and the name", r.ended, want)
			}
		})
	}
}

func TestNeedPresent(t *testing.T) {
	if path := Need(t, "sh"); !filepath.IsAbs(path) {
		t.Fatalf("path %q, want an absolute one", path)
	}
}
