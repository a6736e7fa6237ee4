package schemetest_test

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/schemetest"
)

// TestRun requires that a correct handler passes.
func TestRun(t *testing.T) { schemetest.Run(t, suite("")) }

// failureVariable is the environment variable with the bug for TestFault.
const failureVariable = "SCHEMETEST_FAULT"

// TestFault runs the suite with a broken handler, in a child process of TestBroken.
func TestFault(t *testing.T) {
	broken := os.Getenv(failureVariable)
	if broken == "" {
		t.Skip("only run by TestBroken")
	}
	s := suite(failure(broken))
	s.Soon = 2 * time.Second
	schemetest.Run(t, s)
}

// TestBroken requires that each bug of a handler fails the check for it.
func TestBroken(t *testing.T) {
	t.Parallel()
	cases := []struct {
		failure failure
		check   string
		want    string // in the output
	}{
		{"head", "whole", "has a body"},
		{"shared", "concurrent", "by one of"},
		{"deaf connect", "canceled connect", "does not end"},
		{"deaf", "canceled reply", "does not end"},
		{"deaf body", "canceled body", "does not end"},
		{"open", "whole", "left open by the handler"},
		{"unlimited", "endless listing", "the limit is"},
		{"no part", "endless listing", "no listing of what the limit allows"},
		{"long lines", "endless line", "bytes were read for a line"},
		{"memory", "endless body", "the heap has grown"},
		{"no timeout", "silence", "the error is no timeout"},
		{"untimed", "trickle", "is taken for whole"},
		{"panic", "garbage", "panic:"},
		{"premature", "reset", "is taken for whole"},
		{"premature", "closed", "is taken for whole"},
		{"cut listing", "reset", "is taken for whole"},
		{"unchecked", "refused address", "an address that is refused was connected to"},
		{"unchecked", "checked addresses", "without Request.Check"},
		{"own dialer", "checked addresses", "by the Dial given"},
		{"raw names", "hostile names", "has control characters"},
		{"raw links", "hostile names", "a URI that is not valid"},
		{"wrong links", "hostile names", "leads to"},
		{"raw fields", "hostile names", "has a line end"},
	}
	// Most of them wait for a timeout, which needs no CPU, so more run concurrently than parallel tests would.
	const most = 8
	var running sync.WaitGroup
	slots := make(chan struct{}, most)
	for _, c := range cases {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.short", "-test.run", "^TestFault$/^"+strings.ReplaceAll(c.check, " ", "_")+"$")
			command.Env = append(os.Environ(), failureVariable+"="+string(c.failure))
			output, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(output), c.want) {
				t.Errorf("%s, %s: got %v, want a failure with %q:\n%s", c.failure, c.check, err, c.want, output)
			}
		})
	}
	running.Wait()
}
