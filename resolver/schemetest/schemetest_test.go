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

// failureVariable is the environment variable with the bug for TestFailure.
const failureVariable = "SCHEMETEST_FAULT"

// TestFailure runs the suite with a broken handler, in a child process of TestBroken.
func TestFailure(t *testing.T) {
	broken := os.Getenv(failureVariable)
	if broken == "" {
		t.Skip("only run by TestBroken")
	}
	s := suite(failure(broken))
	s.PromptTimeout = 2 * time.Second
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
		{"deaf connect", "canceled connect", "does not return"},
		{"deaf", "canceled reply", "does not return"},
		{"deaf body", "canceled body", "does not return"},
		{"open", "whole", "left open by the handler"},
		{"unlimited", "endless listing", ", limit "},
		{"no part", "endless listing", "no listing within the limit"},
		{"long lines", "endless line", "bytes read for a line"},
		{"memory", "endless body", "heap grown by"},
		{"no timeout", "silence", "not a timeout"},
		{"untimed", "trickle", "accepted as complete"},
		{"panic", "garbage", "panic:"},
		{"premature", "reset", "accepted as complete"},
		{"premature", "closed", "accepted as complete"},
		{"cut listing", "reset", "accepted as complete"},
		{"unchecked", "refused address", "connected to a denied address"},
		{"unchecked", "checked addresses", "without Request.Check"},
		{"own dialer", "checked addresses", "by Config.Dial"},
		{"raw names", "hostile names", "control characters or"},
		{"raw links", "hostile names", "invalid URI"},
		{"wrong links", "hostile names", "resolves to"},
		{"raw fields", "hostile names", "line end or NUL in"},
	}
	// Most of them wait for a timeout, which needs no CPU, so more run concurrently than parallel tests would.
	const most = 8
	var running sync.WaitGroup
	slots := make(chan struct{}, most)
	for _, c := range cases {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.short", "-test.run",
				"^TestFailure$/^"+strings.ReplaceAll(c.check, " ", "_")+"$")
			command.Env = append(os.Environ(), failureVariable+"="+string(c.failure))
			output, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(output), c.want) {
				t.Errorf("%s, %s: got %v, want a failure with %q:\n%s", c.failure, c.check, err, c.want, output)
			}
		})
	}
	running.Wait()
}
